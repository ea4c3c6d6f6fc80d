run fade.py
stdout ^1000 32768
state LED brightness == 50
