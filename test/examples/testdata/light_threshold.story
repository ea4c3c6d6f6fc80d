sim set LIGHT_ADC 800
when watching sim set LIGHT_ADC 500
when dusk sim set LIGHT_ADC 950
run light_threshold.py
stdout changes 2
effects LED_B 0>1>0
