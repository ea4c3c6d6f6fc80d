# Retry with back-off over a flaky function; the delays are only counted.
class Transient(Exception):
    pass

def flaky(fail_times):
    state = {"left": fail_times}
    def f():
        if state["left"] > 0:
            state["left"] -= 1
            raise Transient("left %d" % state["left"])
        return "ok"
    return f

def retry(f, tries):
    delay, slept = 1, 0
    for attempt in range(1, tries + 1):
        try:
            return f(), attempt, slept
        except Transient as e:
            print("  try", attempt, e)
            slept += delay
            delay *= 2
    raise RuntimeError("gave up after %d" % tries)

print(retry(flaky(0), 3))
print(retry(flaky(2), 3))
try:
    retry(flaky(5), 3)
except RuntimeError as e:
    print(e)
