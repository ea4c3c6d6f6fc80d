run stepper.py
state STEPPER position == 48
