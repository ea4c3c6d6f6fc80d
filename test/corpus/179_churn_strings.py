# Many short-lived strings; only a digest of them stays.
h = 7
for i in range(4000):
    s = "item-" + str(i) + "-" + hex(i * 7919)
    h = (h * 31 + len(s) + ord(s[-1])) % 1000003
print(h)
acc = ""
for i in range(400):
    acc += str(i % 10)
    if len(acc) > 100:
        acc = acc[50:]
print(len(acc), acc[-10:])
