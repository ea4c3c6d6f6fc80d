# Ranges and reproducibility, never particular values.
import random

random.seed(1234)
a = [random.random() for _ in range(5)]
random.seed(1234)
b = [random.random() for _ in range(5)]
print(a == b, all(0 <= x < 1 for x in a), len(set(a)) == 5)
print(all(1 <= random.randint(1, 6) <= 6 for _ in range(200)))
print(sorted(set(random.randint(1, 6) for _ in range(500))))
print(all(random.randrange(0, 100, 10) % 10 == 0 for _ in range(50)))
print(all(random.choice("abc") in "abc" for _ in range(50)))
print(all(2.0 <= random.uniform(2, 3) <= 3.0 for _ in range(50)))
print(all(random.getrandbits(4) < 16 for _ in range(50)))
n = [random.randint(0, 1) for _ in range(2000)]
print(800 < sum(n) < 1200)
random.seed(7)
c = random.getrandbits(30)
random.seed(8)
print(c != random.getrandbits(30))
