# JSON text with escapes and raw characters.
import json

print(json.loads('"\\u00e9\\u65e5"'), json.loads('"日本"'), json.loads('{"名": "値"}')["名"])
for s in ("é", "日本", "line\u2028sep", "nul\0", "\x1f"):
    print(json.loads(json.dumps(s)) == s, len(json.loads(json.dumps(s))))
print(json.dumps("ascii only"), json.dumps("tab\t"))
