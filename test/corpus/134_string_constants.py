# The string module's alphabets.
import string

print(string.ascii_lowercase, string.digits, string.hexdigits)
print([c for c in "a1-B" if c in string.ascii_letters + string.digits])

def caesar(text, k):
    low = string.ascii_lowercase
    return "".join(low[(low.index(c) + k) % 26] if c in low else c for c in text)

secret = caesar("attack at dawn", 3)
print(secret, caesar(secret, -3))
