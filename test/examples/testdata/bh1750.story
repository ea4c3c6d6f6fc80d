sim set BH1750 lux=350
run bh1750.py
event user:light "lux":350
