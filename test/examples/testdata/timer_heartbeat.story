run timer_heartbeat.py
stdout beats: (1[5-9]|2[0-6])
switched LED 15
level LED 0
