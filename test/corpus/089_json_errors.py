# Text that is not JSON raises ValueError.
import json

for bad in ("", "{", "[1, 2", "{'a': 1}", "nul", '"open', "tru", "{1: 2}x"):
    try:
        json.loads(bad)
        print(repr(bad), "accepted")
    except ValueError:
        print(repr(bad), "ValueError")
