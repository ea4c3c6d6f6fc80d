# The older name.
import asyncio


def __getattr__(name):
    return getattr(asyncio, name)
