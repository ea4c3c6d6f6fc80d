run settings.py
run settings.py session=another
stdout ^2
file /settings.json "starts": 2
nofile /settings.json.new
