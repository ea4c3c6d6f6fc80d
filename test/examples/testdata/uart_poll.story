run uart_poll.py
stdout empty: \[\]\n1 1
event user:polled ping
