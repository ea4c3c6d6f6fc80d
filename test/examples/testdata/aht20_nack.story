sim fault AHT20 nack
run aht20.py
error python_error
sim fault AHT20 off
run aht20.py
event user:climate "t"
