# A report as a program on a board would send it.
import json

class Sensor:
    def __init__(self, name, values):
        self.name, self.values = name, values

    def report(self):
        return {"name": self.name, "n": len(self.values), "mean": sum(self.values) / len(self.values)}

sensors = [Sensor("t1", [20, 22, 24]), Sensor("h1", [40, 41])]
text = json.dumps([s.report() for s in sensors])
back = json.loads(text)
for r in back:
    print(" ".join("%s=%s" % (k, r[k]) for k in sorted(r)))
print(json.loads(json.dumps(back)) == back)
