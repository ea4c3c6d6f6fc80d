when waiting sim press BUTTON_B
run async_button.py
effects LED 0>1
