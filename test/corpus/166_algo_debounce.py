# Debouncing a bouncing button, sampled every millisecond.
def debounce(samples, need=3):
    stable, run, last = samples[0], 0, samples[0]
    for t, s in enumerate(samples):
        run = run + 1 if s == last else 1
        last = s
        if run >= need and s != stable:
            stable = s
            yield t, "press" if s else "release"

raw = [int(c) for c in "0000101101111111101000100000001111"]
print(list(debounce(raw)))
print(list(debounce(raw, 1)))
print(list(debounce(raw, 6)))
edges = sum(1 for a, b in zip(raw, raw[1:]) if a != b)
print(edges, "raw edges")
