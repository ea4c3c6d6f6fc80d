# The builtins are a module; names can be looked up in it.
import builtins

print(builtins.len([1, 2]), builtins.max(3, 4))
for name in ("print", "range", "dict", "ValueError", "isinstance", "sorted"):
    print(name, hasattr(builtins, name))
print(getattr(builtins, "abs")(-5), hasattr(builtins, "no_such_thing"))
print(isinstance(globals(), dict), "builtins" in globals())
def f():
    a = 1
    return "f" in globals()
print(f(), dir([]) != [], "append" in dir([]))
