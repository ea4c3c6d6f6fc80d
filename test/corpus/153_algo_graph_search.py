# Breadth first, Dijkstra, and topological order.
import heapq
from collections import deque

edges = {"a": {"b": 7, "c": 9, "f": 14}, "b": {"c": 10, "d": 15}, "c": {"d": 11, "f": 2}, "d": {"e": 6}, "f": {"e": 9}, "e": {}}

def bfs(start):
    dist, q = {start: 0}, deque((start,), 20)
    while q:
        n = q.popleft()
        for m in sorted(edges[n]):
            if m not in dist:
                dist[m] = dist[n] + 1
                q.append(m)
    return dist

def dijkstra(start):
    dist, prev, heap = {start: 0}, {}, [(0, start)]
    while heap:
        d, n = heapq.heappop(heap)
        if d > dist[n]:
            continue
        for m, w in edges[n].items():
            if d + w < dist.get(m, 1 << 30):
                dist[m], prev[m] = d + w, n
                heapq.heappush(heap, (d + w, m))
    return dist, prev

print(sorted(bfs("a").items()))
dist, prev = dijkstra("a")
print(sorted(dist.items()))
path = ["e"]
while path[-1] != "a":
    path.append(prev[path[-1]])
print(path[::-1])

def topo(graph):
    seen, out = set(), []
    def visit(n):
        if n not in seen:
            seen.add(n)
            for m in sorted(graph[n]):
                visit(m)
            out.append(n)
    for n in sorted(graph):
        visit(n)
    return out[::-1]

print(topo(edges))
