run bad_paths.py
stdout ^refused 7$
file /bericht-ünïcödé.txt ^grün$
