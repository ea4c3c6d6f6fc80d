# A traffic light with a pedestrian request and an emergency.
TABLE = {
    ("red", "timer"): "green", ("green", "timer"): "yellow", ("yellow", "timer"): "red",
    ("green", "request"): "yellow", ("flashing", "reset"): "red",
}

class Light:
    def __init__(self):
        self.state, self.log = "red", []

    def event(self, e):
        new = "flashing" if e == "fault" else TABLE.get((self.state, e))
        if new is None:
            self.log.append("(%s ignored in %s)" % (e, self.state))
            return False
        self.log.append(self.state + ">" + new)
        self.state = new
        return True

l = Light()
done = [l.event(e) for e in "timer request request timer timer fault timer reset timer".split()]
print("\n".join(l.log))
print(done.count(True), l.state)
