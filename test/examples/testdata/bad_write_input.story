code Pin(21, Pin.IN).on()
error denied capability
code Pin(21, Pin.OUT)
error denied capability
level BUTTON 1
