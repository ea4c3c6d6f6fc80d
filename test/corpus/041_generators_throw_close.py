# throw and close meet try, except and finally inside the generator.
def worker():
    try:
        while True:
            try:
                x = yield
                print("got", x)
            except ValueError as e:
                print("handled", e)
    finally:
        print("cleanup")

w = worker()
next(w)
w.send(1)
w.throw(ValueError("bad"))
w.send(2)
w.close()
w.close()
try:
    w.send(3)
except StopIteration:
    print("closed")
v = worker()
next(v)
try:
    v.throw(KeyError("lost"))
except KeyError as e:
    print("escaped", e.args[0])

def stubborn():
    try:
        yield 1
    except GeneratorExit:
        print("asked to leave")
        raise

s = stubborn()
next(s)
s.close()
