run one_shot.py
effects LED_B 0>1>0
