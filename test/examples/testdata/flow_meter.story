sim set FLOW flow=2.6667
run flow_meter.py
event user:flow "value":(1[89]|2[01])\b
