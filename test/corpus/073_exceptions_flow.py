# try, except, else and finally in every order that matters.
def run(action):
    print("--", action)
    try:
        if action == "value":
            raise ValueError("v")
        if action == "key":
            {}["k"]
        if action == "return":
            return "returned"
        print("body")
    except ValueError as e:
        print("except", e)
    except (KeyError, IndexError) as e:
        print("except tuple", type(e).__name__)
    else:
        print("else")
    finally:
        print("finally")
    return "end"

for a in ("none", "value", "key", "return"):
    print(run(a))

def override():
    try:
        return 1
    finally:
        return 2

def loop():
    for i in range(3):
        try:
            if i == 1:
                continue
            if i == 2:
                break
        finally:
            print("f", i)
    return i

print(override(), loop())
