sim set UART device=mhz19
sim set UART co2=812
run mhz19_co2.py
event user:co2 "value":812\b
