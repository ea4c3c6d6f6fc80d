run rtc_alarm.py
level LED 1
event user:alarm 2026-05-01 12:00:01
