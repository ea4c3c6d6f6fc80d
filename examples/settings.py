# Settings in a JSON file that survive the program.
import json
import os

PATH = "/flash/settings.json"


def load():
    try:
        with open(PATH) as f:
            return json.load(f)
    except OSError:
        return {"starts": 0, "name": "bench"}


settings = load()
settings["starts"] += 1
with open(PATH + ".new", "w") as f:
    json.dump(settings, f)
os.rename(PATH + ".new", PATH)
print(settings["starts"])
