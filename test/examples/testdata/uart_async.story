run uart_async.py
event user:lines "value":\["line 0","line 1","line 2"\]
