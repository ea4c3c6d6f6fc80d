# The older name.
from ssl import *
