run i2c_scan.py
event user:i2c_scan "value":\[32,35,56,60,72,80,88,104,118\]
