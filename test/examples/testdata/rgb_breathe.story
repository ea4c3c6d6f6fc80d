run rgb_breathe.py
state RGB lights.0 == #0a141e
