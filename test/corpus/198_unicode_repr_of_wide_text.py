# micropython-only
# This engine escapes everything outside ASCII in repr, and pads by bytes.
print(repr("é"), ["日本", "😀"], {"ключ": "знач"}, ("\u2028",))
print("{:>4}|".format("é"), "%4s|" % "é")
print(repr("\x00\x1f\x7f\x80"), ["a\\b"], repr('both " and \''))
