# Computed attributes with getter, setter and deleter.
class Thermostat:
    def __init__(self):
        self._c = 20

    @property
    def celsius(self):
        return self._c

    @celsius.setter
    def celsius(self, v):
        if not -40 <= v <= 85:
            raise ValueError("out of range: %d" % v)
        self._c = v

    @celsius.deleter
    def celsius(self):
        self._c = None

    @property
    def fahrenheit(self):
        return self._c * 9 / 5 + 32

t = Thermostat()
print(t.celsius, t.fahrenheit)
t.celsius = 25
print(t.celsius, t.fahrenheit)
try:
    t.celsius = 100
except ValueError as e:
    print(e)
try:
    t.fahrenheit = 1
except AttributeError:
    print("read only")
del t.celsius
print(t.celsius)
