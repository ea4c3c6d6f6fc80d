run ds3231_clock.py
event user:clock "value":\[26,12,31,23,59\]
