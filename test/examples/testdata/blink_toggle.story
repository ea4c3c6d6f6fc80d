run blink_toggle.py
switched LED 6
switched LED_B 6
level LED 1
level LED_B 0
