# A shuffle keeps the items; a bounded walk keeps its bounds.
import random

def shuffle(items):
    for i in range(len(items) - 1, 0, -1):
        j = random.randint(0, i)
        items[i], items[j] = items[j], items[i]

random.seed(99)
cards = list(range(52))
shuffle(cards)
print(sorted(cards) == list(range(52)), cards != list(range(52)))
pos, low, high = 0, 0, 0
for _ in range(300):
    pos = max(-5, min(5, pos + random.choice((-1, 1))))
    low, high = min(low, pos), max(high, pos)
print(-5 <= low <= high <= 5, low < high)
inside = sum(1 for _ in range(3000) if random.random() ** 2 + random.random() ** 2 < 1)
print(2.9 < 4 * inside / 3000 < 3.4)
