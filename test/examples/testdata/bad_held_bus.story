# A device holds the data line down: the caller gets ETIMEDOUT, the guard frees the bus, the next transfer works.
sim fault AHT20 held
code I2C(0).readfrom(0x23, 1)
error python_error
event bus_fault i2c0
event bus_recovered i2c0
code print(len(I2C(0).scan()))
stdout ^9
level LED 0
