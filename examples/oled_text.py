# Text and a frame on the OLED.
from machine import I2C, Pin
import ssd1306

i2c = I2C(0, scl=Pin(7), sda=Pin(6))
oled = ssd1306.SSD1306_I2C(128, 64, i2c)

oled.fill(0)
oled.text("PAL", 52, 8, 1)
oled.text("Hello, World!", 12, 28, 1)
oled.rect(0, 0, 128, 64, 1)
oled.show()
