sim set TEMP_ADC 310
when cold sim set TEMP_ADC 420
when hot sim set TEMP_ADC 300
run thermostat.py
effects FAN_PWM 0>1>0
