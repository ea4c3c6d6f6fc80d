# Text with wide characters in source: comments ✓, strings, escapes and keys.
temperatura = {"Zürich": 12.5, "東京": 18.0, "Αθήνα": 27.5, "🏝️ island": 31.0}
for city in sorted(temperatura):
    print("%s: %.1f°" % (city, temperatura[city]))
widths = [len(c) for c in sorted(temperatura)]
print(widths)
bar = "▁▂▃▄▅▆▇█"
print("".join(bar[min(7, v * 8 // 32)] for v in (0, 4, 9, 13, 17, 22, 26, 31)))
box = "┌──┐\n│ok│\n└──┘"
print(box)
