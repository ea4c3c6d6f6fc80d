when ready sim press BUTTON
run bad_handler_raises.py
stdout done
effects LED 0>1
