run w25q64.py
stdout id: b'\\xef@\\x17'
event user:flash PAL was here
