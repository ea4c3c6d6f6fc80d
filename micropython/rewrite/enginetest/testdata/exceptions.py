n = 0
for k in range(100000):
    try: raise ValueError
    except ValueError: n += 1
