f = 1
for k in range(1, 500): f *= k
for _ in range(20): s = str(f // 3)
