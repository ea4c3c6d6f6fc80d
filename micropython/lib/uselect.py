# The older name.
from select import *
