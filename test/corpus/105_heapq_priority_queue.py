# A heap as a queue of timed events and as a sorter.
import heapq

h = []
for v in (5, 1, 9, 3, 7, 1):
    heapq.heappush(h, v)
print([heapq.heappop(h) for _ in range(len(h))])
a = [9, 4, 8, 2, 6]
heapq.heapify(a)
print(a[0], heapq.heappop(a), a[0])
events = []
for t, name in ((30, "stop"), (10, "start"), (20, "blink"), (10, "arm")):
    heapq.heappush(events, (t, name))
while events:
    print(heapq.heappop(events))
try:
    heapq.heappop([])
except IndexError:
    print("empty heap")

def merge(*lists):
    heap = [(l[0], i, 0) for i, l in enumerate(lists) if l]
    heapq.heapify(heap)
    while heap:
        v, i, k = heapq.heappop(heap)
        yield v
        if k + 1 < len(lists[i]):
            heapq.heappush(heap, (lists[i][k + 1], i, k + 1))

print(list(merge([1, 4, 7], [2, 5], [], [0, 3, 6, 9])))
