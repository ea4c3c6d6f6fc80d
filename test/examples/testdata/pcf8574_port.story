run pcf8574_port.py
stdout ^0xa5
state PCF8574 latch == 165
