sim set DHT22 temperature=27.5
sim set DHT22 humidity=80
run greenhouse_vent.py
file /vent.json "vent": 90
state SERVO angle =~ 90
state FAN_PWM brightness == 50
