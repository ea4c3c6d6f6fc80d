# Numbers of the usual errors.
import errno

for name in ("EPERM", "ENOENT", "EIO", "EBADF", "EAGAIN", "ENOMEM", "EACCES", "EEXIST", "ENODEV", "EISDIR", "EINVAL"):
    print(name, getattr(errno, name), errno.errorcode[getattr(errno, name)])
