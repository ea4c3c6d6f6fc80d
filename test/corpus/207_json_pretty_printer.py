# A pretty printer with sorted keys, written by hand.
import json

def pretty(v, ind=0):
    pad = "  " * (ind + 1)
    if isinstance(v, dict) and v:
        items = [pad + json.dumps(k) + ": " + pretty(v[k], ind + 1) for k in sorted(v)]
        return "{\n" + ",\n".join(items) + "\n" + "  " * ind + "}"
    if isinstance(v, list) and v:
        return "[\n" + ",\n".join(pad + pretty(x, ind + 1) for x in v) + "\n" + "  " * ind + "]"
    return json.dumps(v)

doc = json.loads('{"b": [1, {"z": null, "a": []}], "a": {"k": "v", "e": {}}, "c": true}')
text = pretty(doc)
print(text)
print(json.loads(text) == doc)
