# A linked list with nodes, iteration and reversal.
class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next

class LinkedList:
    def __init__(self, items=()):
        self.head = None
        self.size = 0
        for i in items:
            self.append(i)

    def append(self, value):
        node = Node(value)
        self.size += 1
        if not self.head:
            self.head = node
            return
        n = self.head
        while n.next:
            n = n.next
        n.next = node

    def reverse(self):
        prev, n = None, self.head
        while n:
            n.next, prev, n = prev, n, n.next
        self.head = prev

    def remove(self, value):
        prev, n = None, self.head
        while n:
            if n.value == value:
                if prev:
                    prev.next = n.next
                else:
                    self.head = n.next
                self.size -= 1
                return True
            prev, n = n, n.next
        return False

    def __iter__(self):
        n = self.head
        while n:
            yield n.value
            n = n.next

l = LinkedList("abcde")
print(list(l), l.size)
l.reverse()
print(list(l), l.remove("e"), l.remove("c"), l.remove("zz"), list(l), l.size)
