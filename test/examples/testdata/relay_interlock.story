run relay_interlock.py
stdout refused: \[Errno 13\].*interlock
effects RELAY_1 0>1>0
effects RELAY_2 0>1
level RELAY_1 0
level RELAY_2 1
