# A bounded queue from both ends.
from collections import deque

q = deque((), 4)
for i in range(6):
    q.append(i)
print(list(q), len(q))
print(q.popleft(), q.pop(), list(q))
q.appendleft("front")
print(list(q), q[0], bool(q))
q.extend([7, 8])
print(list(q))
while q:
    q.popleft()
try:
    q.popleft()
except IndexError:
    print("empty")
window = deque((), 3)
out = []
for v in (10, 20, 30, 40, 50):
    window.append(v)
    out.append(sum(window) // len(window))
print(out)
