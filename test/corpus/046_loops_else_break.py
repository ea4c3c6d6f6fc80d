# The else of a loop runs when no break did.
for n in range(2, 14):
    for d in range(2, n):
        if n % d == 0:
            print(n, "=", d, "*", n // d)
            break
    else:
        print(n, "is prime")
i = 0
while i < 3:
    i += 1
    if i == 2:
        continue
    print("turn", i)
else:
    print("done", i)
while True:
    i -= 1
    if i < 0:
        break
else:
    print("never")
for x in []:
    pass
else:
    print("empty loop else")
