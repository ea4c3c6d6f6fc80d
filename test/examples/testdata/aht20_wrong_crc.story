sim fault AHT20 crc
run aht20.py
error python_error
sim fault AHT20 off
run aht20.py
event user:climate "t"
