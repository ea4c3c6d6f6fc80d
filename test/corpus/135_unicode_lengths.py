# Length and indexing count characters, encoding counts bytes.
for s in ("ascii", "naïve", "Größe", "日本語", "emoji 😀🚀", "e\u0301", "\U0001F468\u200d\U0001F469", "Ω≈ç√"):
    print(s, len(s), len(s.encode()), s[0], s[-1], list(s.encode())[:6])
print("日本語"[1], "日本語"[1:], "😀x🚀"[1], "a😀b"[2])
print([ord(c) for c in "a¢€😀"], chr(0x20AC), chr(0x1F600) == "😀")
for b in (b"\xe6\x97\xa5", b"\xf0\x9f\x9a\x80"):
    print(b.decode(), len(b.decode()))
