sim set AHT20 temperature=23.5
sim set AHT20 humidity=41
run aht20.py
event user:climate "t":23.5
event user:climate "h":41
