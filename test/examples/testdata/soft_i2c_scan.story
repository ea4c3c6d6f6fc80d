run soft_i2c_scan.py
event user:soft_scan "value":\[32,35,56,60,72,80,88,104,118\]
