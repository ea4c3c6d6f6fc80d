# Text layout: a padded table and a wrapped paragraph.
rows = [("name", "qty", "price"), ("bolt", 12, 0.5), ("washer", 150, 0.04), ("gear", 3, 12.25)]
widths = [max(len(str(r[i])) for r in rows) for i in range(3)]
for r in rows:
    print("%-*s  %*s  %*s" % (widths[0], r[0], widths[1], r[1], widths[2], r[2]))
print("-" * (sum(widths) + 4))

def wrap(text, width):
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = line + " " + word if line else word
    if line:
        yield line

text = "A terminal accepts short programs and runs each of them to its end or to its deadline whichever comes first"
for l in wrap(text, 30):
    print("|" + l + " " * (30 - len(l)) + "|")
