import json
d = {'k%d' % k: [k, str(k), {'v': k / 2, 'n': None, 't': True}] for k in range(50)}
for _ in range(60): json.loads(json.dumps(d))
