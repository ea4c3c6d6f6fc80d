# dumps and loads, checked through values and not key order.
import json

for v in (None, True, False, 0, -12, 1.5, "", "text", [], {}, [1, [2, [3]]], {"a": {"b": [None]}}):
    t = json.dumps(v)
    print(t, json.loads(t) == v)
print(json.dumps({"k": [1, 2, {"n": None}]}))
print(json.dumps('quote " back \\ tab \t nl \n'))
d = json.loads('{"name": "pump", "on": true, "levels": [1, 2.5, -3e2], "next": null, "nested": {"x": {}}}')
print(d["name"], d["on"], d["levels"], d["next"], d["nested"])
print(json.loads(" [ 1 , 2 ] "), json.loads('"\\u0041\\n\\"\\/"'))
print(json.loads("-0.5"), json.loads("1e3"), json.loads("12345678901234567890"))
