code i2c = I2C(0); Pin('SDA', Pin.OPEN_DRAIN)
error conflict pin in use
code PWM(Pin('SDA'), freq=100)
error denied capability
code print(len(I2C(0).scan()))
stdout ^9
