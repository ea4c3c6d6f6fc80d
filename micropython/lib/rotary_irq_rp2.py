# Another name that programs know the encoder by.
from rotary import RotaryIRQ
