sim set POT_ADC 2500
run async_producer.py
level LED 1
stdout ^2500
