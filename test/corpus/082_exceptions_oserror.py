# OSError carries a number; the errno module names it.
import errno

try:
    raise OSError(errno.EINVAL, "bad")
except OSError as e:
    print(e.errno == errno.EINVAL, e.args[0] == 22)
e = OSError(errno.ENOENT, "missing")
print(e.errno, len(e.args))
print(errno.EINVAL, errno.EIO, errno.ENOENT, errno.EPERM, errno.EAGAIN)
print(errno.errorcode[errno.EIO], errno.errorcode[errno.EACCES])
try:
    raise OSError
except OSError as e:
    print(e.args)
