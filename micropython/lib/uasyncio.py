# The older name.
from asyncio import *
