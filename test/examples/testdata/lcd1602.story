run lcd1602.py
stdout ^16
state PCF8574 latch == 153
