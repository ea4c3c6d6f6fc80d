# Parsing log lines with groups.
import re

log = """12:00:01 INFO boot ok
12:00:05 WARN temp=81.5 limit=80
garbage line
12:01:10 ERROR pump stalled code=17
12:02:00 INFO temp=70.0"""
line_re = re.compile(r"(\d\d):(\d\d):(\d\d) (\w+) (.*)")
counts = {}
for line in log.split("\n"):
    m = line_re.match(line)
    if not m:
        print("skip:", line)
        continue
    h, mi, s = [int(m.group(i)) for i in (1, 2, 3)]
    counts[m.group(4)] = counts.get(m.group(4), 0) + 1
    kv = re.search(r"(\w+)=([\d.]+)", m.group(5))
    print(h * 3600 + mi * 60 + s, m.group(4), kv.group(1) + ":" + kv.group(2) if kv else "-")
print(sorted(counts.items()))
