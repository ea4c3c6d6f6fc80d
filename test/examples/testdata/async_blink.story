run async_blink.py
stdout \['CancelledError', 'CancelledError'\]
switched LED 10
switched LED_B 5
level LED 0
level LED_B 0
