run morse.py
switched LED 18
level LED 0
