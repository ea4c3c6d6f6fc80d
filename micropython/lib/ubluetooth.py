# The older name.
from bluetooth import *
