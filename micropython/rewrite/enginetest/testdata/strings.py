for k in range(3000):
    s = '-'.join(str(x) for x in range(20))
    t = s.replace('1', 'one').upper().split('-')
    u = '{:>8}|{:04d}'.format(s[:6], k)
