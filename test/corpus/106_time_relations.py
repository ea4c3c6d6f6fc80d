# micropython-only
import time

t0 = time.ticks_ms()
u0 = time.ticks_us()
n = 0
for i in range(2000):
    n += i
t1 = time.ticks_ms()
u1 = time.ticks_us()
print(n, time.ticks_diff(t1, t0) >= 0, time.ticks_diff(u1, u0) >= 0)
print(time.ticks_diff(time.ticks_add(t0, 250), t0), time.ticks_diff(t0, time.ticks_add(t0, 250)))
print(time.ticks_add(t0, 10) != t0, time.ticks_diff(t0, t0))
a = time.time()
b = time.time()
print(b >= a, isinstance(time.ticks_ms(), int))
print(time.ticks_cpu() is not None)
