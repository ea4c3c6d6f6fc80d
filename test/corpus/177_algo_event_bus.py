# Publish and subscribe with wildcards and unsubscribe.
class Bus:
    def __init__(self):
        self.subs = []

    def on(self, pattern, f):
        entry = (pattern.split("/"), f)
        self.subs.append(entry)
        return lambda: self.subs.remove(entry)

    def emit(self, topic, value):
        parts, n = topic.split("/"), 0
        for pattern, f in list(self.subs):
            if self.match(pattern, parts):
                f(topic, value)
                n += 1
        return n

    def match(self, pattern, parts):
        for i, p in enumerate(pattern):
            if p == "#":
                return True
            if i >= len(parts) or p != "+" and p != parts[i]:
                return False
        return len(pattern) == len(parts)

bus, seen = Bus(), []
bus.on("room/+/temp", lambda t, v: seen.append(("temp", t, v)))
off = bus.on("room/#", lambda t, v: seen.append(("any", t, v)))
bus.on("alarm", lambda t, v: seen.append(("alarm", v)))
print(bus.emit("room/1/temp", 20), bus.emit("room/2/hum", 50), bus.emit("alarm", "fire"), bus.emit("other", 0))
off()
print(bus.emit("room/2/hum", 51), bus.emit("room/9/temp", 1))
for s in seen:
    print(s)
