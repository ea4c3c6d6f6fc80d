run neopixel_rainbow.py
state WS2812 lights.3 == #ff8001
state WS2812 lights.4 == #000000
