run bad_name_clash.py
stdout ^own True$
effects LED 0>1
