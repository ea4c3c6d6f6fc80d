# The older name.
from requests import *
