run queue_workers.py
stdout \[2, 3, 5, 6, 8\]
switched LED 4
level LED_B 0
