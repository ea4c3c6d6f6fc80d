run servo_sweep.py
state SERVO angle =~ 90
