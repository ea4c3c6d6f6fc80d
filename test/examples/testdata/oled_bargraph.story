sim set POT_ADC 4095
run oled_bargraph.py
state SSD1306 lit >= 1500
state SSD1306 contrast == 200
