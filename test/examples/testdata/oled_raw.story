run oled_raw.py
state SSD1306 on == true
state SSD1306 lit == 128
