run blink.py
effects LED 0>1>0>1>0>1>0>1>0>1>0
level LED 0
