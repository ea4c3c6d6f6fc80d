# 100,000 exceptions raised in a called function and caught.
def fail(n):
    raise ValueError(n)


caught = 0
for i in range(100000):
    try:
        fail(i)
    except ValueError:
        caught += 1
print(caught)
