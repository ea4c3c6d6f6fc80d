when turn sim set ENCODER turn=3
run encoder.py
event user:encoder "value":-?([4-9]|1\d)\b
