sim set TMP16 temperature=-12.5
code import time; time.sleep_ms(300)
run tmp16_sensor.py
event user:tmp16 "value":-12.5\b
