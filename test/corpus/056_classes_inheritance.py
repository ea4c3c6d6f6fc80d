# Overriding, super, and methods found through two bases.
class Device:
    kind = "device"

    def __init__(self, name):
        self.name = name

    def describe(self):
        return self.kind + " " + self.name

class Sensor(Device):
    kind = "sensor"

    def __init__(self, name, unit):
        super().__init__(name)
        self.unit = unit

    def describe(self):
        return super().describe() + " [" + self.unit + "]"

class Loud:
    def shout(self):
        return self.describe().upper() + "!"

class Siren(Sensor, Loud):
    kind = "siren"

s = Siren("roof", "dB")
print(s.describe(), s.shout())
print(isinstance(s, Device), isinstance(s, Loud), issubclass(Siren, Sensor), issubclass(Sensor, Loud))
print(isinstance(s, (int, Loud)), Siren.__bases__ == (Sensor, Loud))
print(Device.describe(s))
