# Expressions, each with its value or the class of the exception.
import io, json

CASES = r'''
json.dumps(1)
json.dumps(1.5)
json.dumps("a\"b\\")
json.dumps("\n\t\x01")
json.dumps(None)
json.dumps(True)
json.dumps([1, [2, {}]])
json.dumps({"a": 1})
json.dumps({"a": [1, None, False]})
json.dumps([])
json.dumps({})
json.dumps((1, 2))
json.dumps([1, 2], separators=(",", ":"))
json.dumps({"a": 1}, separators=(",", ":"))
json.dumps(2 ** 40)
json.dumps(-1)
json.loads("1")
json.loads("-1.5e3")
json.loads("true")
json.loads("null")
json.loads("[]")
json.loads("{}")
json.loads(" [ 1 , 2 ] ")
json.loads('{"a": {"b": [1, "c"]}}')
json.loads('"\\u0041\\n"')
json.loads(b"[1, 2]")
json.loads("1234567890123456789012")
json.loads("1e3")
json.loads("[1, 2]")[1]
json.loads(json.dumps({"k": ["v", 1, 2.5, None, True]}))
json.load(io.StringIO('{"x": 1}'))
json.loads("  7  ")
json.loads('["a\\/b"]')
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
