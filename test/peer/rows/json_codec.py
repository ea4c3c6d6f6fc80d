# A report of twenty readings to JSON and back, 1,000 times.
import json

report = {"device": "bench", "ok": True, "next": None,
          "readings": [{"pin": n, "volts": n * 0.25, "unit": "V", "tags": ["a", str(n)]} for n in range(20)]}
total = 0
for _ in range(1000):
    text = json.dumps(report)
    back = json.loads(text)
    total += len(text) + len(back["readings"])
print(total, back == report)
