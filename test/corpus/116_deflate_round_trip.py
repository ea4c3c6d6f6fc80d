# micropython-only
# Compress and expand in memory, in each container format.
import deflate
import io

text = b"the same words again and again, the same words again and again. " * 20

def pack(data, fmt):
    out = io.BytesIO()
    with deflate.DeflateIO(out, fmt) as d:
        d.write(data)
    return out.getvalue()

def unpack(data, fmt):
    return deflate.DeflateIO(io.BytesIO(data), fmt).read()

for name in ("RAW", "ZLIB", "GZIP"):
    fmt = getattr(deflate, name)
    packed = pack(text, fmt)
    print(name, len(packed) < len(text) // 4, unpack(packed, fmt) == text)
print(unpack(pack(text, deflate.ZLIB), deflate.AUTO) == text)
try:
    unpack(b"this is not compressed", deflate.ZLIB)
except (ValueError, OSError, EOFError) as e:
    print("refused")
