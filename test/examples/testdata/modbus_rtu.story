sim set UART device=modbus
sim set UART holding.0=7
sim set UART holding.1=65535
run modbus_rtu.py
event user:modbus "value":\[7,65535,4660\]
