# chain, islice, count, cycle, accumulate, starmap.
from itertools import accumulate, chain, count, cycle, islice, repeat, starmap

print(list(chain([1], "ab", (2,))))
print(list(islice(count(10, 5), 4)), list(islice(cycle("xyz"), 7)))
print(list(islice(range(20), 2, 12, 3)))
print(list(accumulate([1, 2, 3, 4])), list(accumulate([3, 1, 4, 1], lambda a, b: max(a, b))))
print(list(starmap(lambda a, b: a * b, [(2, 3), (4, 5)])))
print(list(repeat("r", 3)))
