# Transfers between accounts; a failed one changes nothing.
class Refused(Exception):
    pass

class Bank:
    def __init__(self, **accounts):
        self.accounts = accounts

    def transfer(self, a, b, amount):
        before = dict(self.accounts)
        try:
            if amount <= 0:
                raise ValueError("amount must be positive")
            self.accounts[a] -= amount
            self.accounts[b] += amount
            if self.accounts[a] < 0:
                raise Refused("%s is short by %d" % (a, -self.accounts[a]))
        except Exception:
            self.accounts = before
            raise

bank = Bank(ann=100, bob=20)
for args in (("ann", "bob", 30), ("bob", "ann", 500), ("ann", "nobody", 1), ("ann", "bob", -5), ("bob", "ann", 50)):
    try:
        bank.transfer(*args)
        print("ok", args)
    except (Refused, ValueError) as e:
        print(type(e).__name__, e)
    except KeyError as e:
        print("no account", e.args[0])
    print(sorted(bank.accounts.items()))
