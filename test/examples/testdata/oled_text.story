run oled_text.py
state SSD1306 on == true
state SSD1306 lit >= 300
