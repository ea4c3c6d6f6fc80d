sim set HCSR04 distance=35
run hcsr04_module.py
event user:cm "value":3[456]\b
