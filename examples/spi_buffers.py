# readinto and write_readinto with buffers that are used again.
from machine import Pin, SPI

spi = SPI(1, baudrate=10000000, sck=Pin(36), mosi=Pin(35), miso=Pin(37))
cs = Pin(38, Pin.OUT, value=1)

out = bytearray(b"\x9f\x00\x00\x00")
back = bytearray(4)
cs.off()
spi.write_readinto(out, back)
cs.on()
print(back)

chunk = bytearray(16)
view = memoryview(chunk)
cs.off()
spi.write(b"\x03\x00\x00\x00")
spi.readinto(view[:8])
spi.readinto(view[8:])
cs.on()
event_push("spi", {"id": back[1], "first": chunk[0]})
