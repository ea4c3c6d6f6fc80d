# raise accepts a class or an instance; a raised non-exception is a TypeError.
for thing in (ValueError, ValueError("instance"), KeyError):
    try:
        raise thing
    except (ValueError, KeyError) as e:
        print(type(e).__name__, e.args)
for thing in (5, "text", int):
    try:
        raise thing
    except TypeError as e:
        print("TypeError for", thing if thing != int else "int")
e = ValueError("kept")
for _ in range(2):
    try:
        raise e
    except ValueError as caught:
        print(caught is e)
try:
    caught
except NameError:
    print("name cleared at the end of the handler")
