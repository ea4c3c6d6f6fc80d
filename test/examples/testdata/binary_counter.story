run binary_counter.py
level STEPPER_1 1
level STEPPER_2 1
level STEPPER_3 0
level STEPPER_4 1
