run buzzer_melody.py
state BUZZER frequency == 880
