# A few kilobytes of output arrive whole and in order.
for i in range(120):
    print(i, "x" * (i % 40), i * i)
print("y" * 2000)
