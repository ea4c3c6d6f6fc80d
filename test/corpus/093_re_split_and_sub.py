# Splitting and substitution, with groups and functions.
import re

print(re.compile(r"[,;] *").split("a, b;c,d"))
print(re.compile(" +").split("one two   three", 1))
print(re.sub(r"\d", "#", "a1b22c"), re.sub(r"\d+", "<>", "a1b22c"))
print(re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world"))
print(re.sub(r"\d+", lambda m: str(int(m.group(0)) * 2), "3 apples and 10 pears"))
print(re.sub("a", "b", "aaaa", 2))
print(re.sub(r"^\s+", "", "   left"))
