# The os module answers without touching files.
import os

print(isinstance(os.getcwd(), str))
try:
    os.stat("/no/such/file")
except OSError as e:
    print("OSError", len(e.args) > 0)
print(isinstance(os.listdir("/"), list))
