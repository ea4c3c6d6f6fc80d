# The potentiometer as a bar on the OLED.
from machine import ADC, I2C, Pin
from ssd1306 import SSD1306_I2C

oled = SSD1306_I2C(128, 64, I2C(0))
percent = ADC(Pin(2)).read_u16() * 100 // 65535
oled.fill(0)
oled.text("POT %d%%" % percent, 0, 0)
oled.rect(0, 20, 128, 16, 1)
oled.fill_rect(2, 22, 124 * percent // 100, 12, 1)
oled.show()
oled.contrast(200)
print(percent)
