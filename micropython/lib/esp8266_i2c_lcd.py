# Another name that programs know the adapter by.
from i2c_lcd import I2cLcd
