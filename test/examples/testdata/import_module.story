run import_module.py
effects LED 0>1>0>1>0>1>0
file /lib/blinker.py class Blinker
