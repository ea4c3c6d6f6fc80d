# One million turns: half at the top level, where names are globals, half in a function, where they are locals.
def turns(n):
    s = 0
    for k in range(n):
        s = k + 1
    return s


for k in range(500000):
    s = k + 1
print(s + turns(500000))
