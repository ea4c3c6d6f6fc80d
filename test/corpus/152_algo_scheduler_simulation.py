# Periodic jobs on a simulated clock, by priority queue.
import heapq

class Job:
    def __init__(self, name, period, work):
        self.name, self.period, self.work, self.runs = name, period, work, 0

jobs = [Job("fast", 10, 2), Job("slow", 25, 4), Job("rare", 40, 1)]
queue = [(0, i) for i in range(len(jobs))]
heapq.heapify(queue)
clock, late, log = 0, 0, []
while queue and queue[0][0] <= 100:
    due, i = heapq.heappop(queue)
    job = jobs[i]
    clock = max(clock, due)
    late = max(late, clock - due)
    log.append("%d:%s" % (clock, job.name))
    clock += job.work
    job.runs += 1
    heapq.heappush(queue, (due + job.period, i))
print(" ".join(log))
print([(j.name, j.runs) for j in jobs], "worst lateness", late)
