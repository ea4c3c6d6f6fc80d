# Humidity and temperature from a DHT22.
import dht
from machine import Pin

sensor = dht.DHT22(Pin(8))
sensor.measure()
print("temperature:", sensor.temperature())
print("humidity:", sensor.humidity())
event_push("dht", {"t": sensor.temperature(), "h": sensor.humidity()})
