sim wave LIGHT_ADC noise:1700,2300
run filter_adc.py
level LED 1
event user:filtered "value":(19|20|21)\d\d\b
