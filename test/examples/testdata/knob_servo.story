sim set POT_ADC 4095
run knob_servo.py
state SERVO angle =~ 180
