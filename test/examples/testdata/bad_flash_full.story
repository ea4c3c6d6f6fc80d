run bad_flash_full.py
stdout ^full 28
nofile /big3
file /after.txt ^room$
