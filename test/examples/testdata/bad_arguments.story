run bad_arguments.py
stdout ^refused 26$
level LED 0
level FAN_PWM 0
