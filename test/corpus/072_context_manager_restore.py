# A manager that changes a setting and puts it back whatever happens.
settings = {"rate": 1, "mode": "idle"}

class override:
    def __init__(self, **new):
        self.new = new

    def __enter__(self):
        self.old = {k: settings.get(k) for k in self.new}
        settings.update(self.new)

    def __exit__(self, *exc):
        settings.update(self.old)

def show():
    print(sorted(settings.items()))

show()
with override(rate=9):
    show()
    try:
        with override(mode="busy", rate=10):
            show()
            1 / 0
    except ZeroDivisionError:
        show()
show()
