# Local, enclosing, global and builtin names.
x = "global"

def read():
    return x

def shadow():
    x = "local"
    return x

def write():
    global x, created
    x = "changed"
    created = "new"

print(read(), shadow(), x)
write()
print(x, read(), created)

def unbound():
    try:
        print(x)
        x = 1
    except NameError:
        print("assigned later, so local")
        x = 2
    return x

try:
    print(unbound())
except NameError:
    print("NameError")

class C:
    x = "class"
    y = x + "!"
    def get(self):
        return x

print(C.x, C.y, C().get())
def len_shadow(len):
    return len + 1
print(len_shadow(4), len([1]))
