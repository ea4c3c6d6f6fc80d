# The older name.
from socket import *
