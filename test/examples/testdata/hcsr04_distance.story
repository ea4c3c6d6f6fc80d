sim set HCSR04 distance=120
run hcsr04_distance.py
event user:distance "value":1(19|20|21)\b
