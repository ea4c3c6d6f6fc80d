# A search tree: insert, look up, walk in order, depth.
class Tree:
    def __init__(self):
        self.root = None

    def insert(self, key):
        if self.root is None:
            self.root = [key, None, None]
            return
        node = self.root
        while True:
            side = 1 if key < node[0] else 2
            if node[side] is None:
                node[side] = [key, None, None]
                return
            node = node[side]

    def walk(self, node="root"):
        if node == "root":
            node = self.root
        if node:
            yield from self.walk(node[1])
            yield node[0]
            yield from self.walk(node[2])

    def depth(self, node):
        return 0 if node is None else 1 + max(self.depth(node[1]), self.depth(node[2]))

t = Tree()
for k in (50, 30, 70, 20, 40, 60, 80, 35, 45, 65):
    t.insert(k)
print(list(t.walk()), t.depth(t.root))
w = Tree()
for word in "the tree walks words in order".split():
    w.insert(word)
print(" ".join(w.walk()))
