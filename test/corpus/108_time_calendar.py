# The calendar of a given second.
import time

t = time.gmtime(86400 * 365)
print(len(t) >= 8, t[3:6], t[6])
print(time.gmtime(3600 * 5 + 62)[3:6])
y = [time.gmtime(86400 * d)[2] for d in range(40)]
print(y == list(range(1, 32)) + list(range(1, 10)))
