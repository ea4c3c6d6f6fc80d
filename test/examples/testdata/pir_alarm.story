when armed sim set PIR 1
when motion sim set PIR 0
run pir_alarm.py
effects LED_B 0>1>0
