# A hierarchy of own exceptions with fields.
class DeviceError(Exception):
    code = 1

    def __init__(self, device, why):
        super().__init__(why)
        self.device = device

class Timeout(DeviceError):
    code = 2

class Refused(DeviceError):
    code = 3

    def __str__(self):
        return "%s refused: %s" % (self.device, self.args[0])

for exc in (Timeout("pump", "no answer"), Refused("valve", "interlock"), DeviceError("fan", "odd")):
    try:
        raise exc
    except Timeout as e:
        print("timeout", e.device, e, e.code)
    except DeviceError as e:
        print(type(e).__name__, e.device, e, e.code, e.args)

class Bare(Exception):
    pass

for e in (Bare(), Bare("one"), Bare("one", 2)):
    print(e.args, str(e), isinstance(e, Exception))
print(issubclass(Refused, DeviceError), issubclass(Refused, Timeout))
