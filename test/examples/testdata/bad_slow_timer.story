run bad_slow_timer.py
switched LED 3
code Pin('LED_B', Pin.OUT).on()
level LED_B 1
