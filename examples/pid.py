# A PI controller on the fan: the plant is a model in the program, the output is real.
from machine import Pin, PWM
import time

fan = PWM(Pin(16), freq=25000, duty_u16=0)
target, temp, integral = 40.0, 60.0, 0.0
KP, KI, DT = 0.05, 0.02, 0.1

for step in range(2000):
    error = temp - target
    integral = min(max(integral + error * DT, 0), 100)
    out = min(max(KP * error + KI * integral, 0), 1)
    fan.duty_u16(int(out * 65535))
    temp += (2.0 - 6.0 * out * (temp - 20) / 40) * DT

print("%.1f" % temp)
event_push("pid", {"temp": round(temp, 1), "duty": round(out, 2)})
