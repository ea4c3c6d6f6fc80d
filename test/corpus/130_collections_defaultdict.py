# A dictionary that makes its missing values.
from collections import defaultdict

groups = defaultdict(list)
for w in "apple avocado banana blueberry cherry".split():
    groups[w[0]].append(w)
print([(k, groups[k]) for k in "abcd"])
counts = defaultdict(int)
for c in "hello world":
    counts[c] += 1
print(counts["l"], counts["o"], counts["q"])
nested = defaultdict(lambda: defaultdict(int))
nested["a"]["x"] += 2
print(nested["a"]["x"], nested["b"]["y"])
