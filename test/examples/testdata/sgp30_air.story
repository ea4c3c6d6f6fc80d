run sgp30_air.py
event user:air "co2":400
