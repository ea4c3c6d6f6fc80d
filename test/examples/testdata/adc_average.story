sim set POT_ADC 3000
run adc_average.py
stdout ^3000
event user:pot "raw":3000
