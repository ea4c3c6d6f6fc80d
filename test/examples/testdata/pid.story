run pid.py
event user:pid "temp":(39|40|41)
state FAN_PWM brightness >= 20
