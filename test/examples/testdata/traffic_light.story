run traffic_light.py
effects STEPPER_1 0>1>0>1
effects STEPPER_3 0>1>0
level STEPPER_1 1
level STEPPER_2 1
level STEPPER_3 0
