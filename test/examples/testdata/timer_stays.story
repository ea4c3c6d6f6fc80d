run timer_stays.py
code import time; time.sleep_ms(300)
switched LED_B 5
