# match, search, groups, classes and anchors.
import re

m = re.match(r"(\w+)=(\d+)", "speed=120;mode=fast")
print(m.group(0), m.group(1), m.group(2))
print(re.match(r"\d+", "abc"), re.search(r"\d+", "abc123def").group(0))
for pat, text in ((r"^a.c$", "abc"), (r"^a.c$", "abcd"), (r"[a-f0-9]+", "zzzbeef99z"), (r"[^ ]+", "  hi there"),
                  (r"colou?r", "my color"), (r"(ab)+", "xababab"), (r"a|b|cd", "xxcd"), (r"\.py$", "main.py"),
                  (r"\s+\S", "a  b"), (r"x*", "yyy"), (r"a+?", "aaa")):
    m = re.search(pat, text)
    print(pat, "->", repr(m.group(0)) if m else None)
r = re.compile(r"(\d+)-(\d+)?")
print(r.match("12-").group(1), r.match("12-34").group(2))
