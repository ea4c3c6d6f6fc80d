when waiting sim press BUTTON
run button_debounce.py
stdout pressed
level LED 1
