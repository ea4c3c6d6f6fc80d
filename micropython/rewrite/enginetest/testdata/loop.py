for k in range(1000000): s = k + 1
