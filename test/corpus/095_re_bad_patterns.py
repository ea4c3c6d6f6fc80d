# A pattern that is not one raises instead of matching oddly.
import re

for bad in ("(", "*a", "[abc", "a)"):
    try:
        re.compile(bad)
        print(bad, "accepted")
    except Exception as e:
        print(bad, "refused")
print(re.match("", "abc").group(0) == "")
try:
    re.match("(a)", "a").group(5)
except IndexError:
    print("no such group")
