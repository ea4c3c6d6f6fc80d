# Morse as on and off times, decoded again.
CODE = {"a": ".-", "b": "-...", "e": ".", "h": "....", "l": ".-..", "o": "---", "s": "...", "t": "-", "1": ".----"}
BACK = {v: k for k, v in CODE.items()}

def signal(text):
    out = []
    for word in text.split():
        for ch in word:
            for mark in CODE[ch]:
                out += [(1, 1 if mark == "." else 3), (0, 1)]
            out[-1] = (0, 3)
        out[-1] = (0, 7)
    return out

def decode(sig):
    text, cur = "", ""
    for level, n in sig:
        if level:
            cur += "." if n == 1 else "-"
        elif n >= 3:
            text += BACK[cur] + (" " if n == 7 else "")
            cur = ""
    return text.strip()

for t in ("sos", "hello able1", "to to"):
    s = signal(t)
    print("".join(("#" if l else ".") * n for l, n in s))
    print(sum(n for _, n in s), decode(s) == t)
try:
    signal("x")
except KeyError as e:
    print("no code for", e.args[0])
