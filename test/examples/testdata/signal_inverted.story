run signal_inverted.py
stdout ^1 0\n0 1
effects LED 0>1
