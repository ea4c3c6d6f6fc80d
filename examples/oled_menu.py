# A menu on the OLED: one button moves, the other chooses.
from machine import I2C, Pin
import ssd1306
import time

ITEMS = ["Light on", "Light off", "Exit"]
oled = ssd1306.SSD1306_I2C(128, 64, I2C(0))
move = Pin("BUTTON", Pin.IN, Pin.PULL_UP)
choose = Pin("BUTTON_B", Pin.IN, Pin.PULL_UP)
light = Pin(4, Pin.OUT)
at = 0


def draw():
    oled.fill(0)
    for i, item in enumerate(ITEMS):
        if i == at:
            oled.fill_rect(0, i * 12, 128, 10, 1)
        oled.text(item, 4, i * 12 + 1, 0 if i == at else 1)
    oled.show()


def pressed(pin):
    if pin.value():
        return False
    while not pin.value():
        time.sleep_ms(2)
    return True


draw()
print("menu")
start = time.ticks_ms()
while time.ticks_diff(time.ticks_ms(), start) < 15000:
    if pressed(move):
        at = (at + 1) % len(ITEMS)
        draw()
        print("at", at)
    if pressed(choose):
        print("chose", ITEMS[at])
        if at == 0:
            light.on()
        elif at == 1:
            light.off()
        break
    time.sleep_ms(2)
