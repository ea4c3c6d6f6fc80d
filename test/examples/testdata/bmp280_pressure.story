run bmp280_pressure.py
event user:bmp280 "t":
