# finally blocks run in order through generators, loops and returns.
log = []

def resource(name):
    log.append("open " + name)
    try:
        yield name
        yield name + "2"
    finally:
        log.append("close " + name)

def use():
    for x in resource("a"):
        for y in resource("b"):
            try:
                if y == "b2":
                    return x + y
            finally:
                log.append("used " + y)

print(use())
g = resource("c")
next(g)
g.close()
print([l for l in log if l[0] != "c"])
print("close c" in log)
