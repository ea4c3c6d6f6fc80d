# Text methods on text outside ASCII.
s = "Zażółć gęślą jaźń — ok"
print(s.find("gęślą"), s.count("a"), "|".join(s.split(" ")), s.replace("ł", "l"))
print(*"日,本,語".split(","), "・".join("日本語"), "本" in "日本語")
print("→".join(["a", "b"]), "  x".strip() + "|", *"ß→ß".partition("→"))
print("「%s」" % "語", "{}℃".format(21), f"{'é'!s}|{'語'*2}")
print("".join(sorted("éaz😀b")), "é" < "z", "😀" > "語")
print("".join(reversed("añb😀")))
