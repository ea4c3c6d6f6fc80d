# Temperature and humidity decide about a fan and a servo: one pass of a control loop with a log.
import dht
import json
from machine import PWM, Pin

sensor = dht.DHT22(Pin(8))
fan = PWM(Pin(16), freq=1000, duty_u16=0)
vent = PWM(Pin(15), freq=50, duty_u16=0)

sensor.measure()
t, h = sensor.temperature(), sensor.humidity()
speed = min(max((t - 20) / 15, 0), 1)
opening = 90 if h > 70 else 0
fan.duty_u16(int(speed * 65535))
vent.duty_ns((500 + opening * 2000 // 180) * 1000)
with open("/flash/vent.json", "w") as f:
    json.dump({"t": t, "h": h, "fan": round(speed, 2), "vent": opening}, f)
