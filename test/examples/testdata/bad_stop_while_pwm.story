code PWM(Pin(16), freq=1000, duty_u16=30000)
state FAN_PWM brightness >= 40
code import machine; machine.WDT()
error denied
code Pin('RELAY_1', Pin.OUT).on(); Pin('RELAY_2', Pin.OUT).on()
error conflict interlock
level RELAY_1 1
level RELAY_2 0
