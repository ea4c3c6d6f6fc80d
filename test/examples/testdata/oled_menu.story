when menu sim press BUTTON_B
after 300ms sim release BUTTON_B
run oled_menu.py
effects LED_B 0>1
state SSD1306 lit >= 1000
