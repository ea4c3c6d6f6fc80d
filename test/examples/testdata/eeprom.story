run eeprom.py
event user:eeprom The quick brown fox jumps over the lazy dog
