sim set DS18B20 temperature=19.5
run ds18b20.py
event user:ds18b20 "t":19.5
