# Short sleeps pass at least the time asked for.
import time

def elapsed(f):
    t0 = time.time_ns()
    f()
    return (time.time_ns() - t0) / 1e6

print(elapsed(lambda: time.sleep(0.01)) >= 9)
print(elapsed(lambda: time.sleep(0)) >= 0)
a = time.time()
time.sleep(0.002)
print(time.time() >= a)
