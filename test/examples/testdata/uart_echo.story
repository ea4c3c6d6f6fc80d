run uart_echo.py
event user:uart hello uart
