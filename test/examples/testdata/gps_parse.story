sim set UART device=gps
sim set UART lat=52.52
sim set UART lon=-13.405
run gps_parse.py
event user:gps "lat":52.52
event user:gps "lon":-13.405
