# dump and load on in-memory streams.
import io
import json

f = io.StringIO()
json.dump([1, "two", None, {"three": 3}], f)
print(f.getvalue())
f.seek(0)
print(json.load(f))
g = io.StringIO('{"a": [1, 2, 3]}')
d = json.load(g)
d["a"].append(4)
print(json.dumps(d))
records = "\n".join(json.dumps({"id": i}) for i in range(3))
print(records)
print(sum(json.loads(line)["id"] for line in records.split("\n")))
