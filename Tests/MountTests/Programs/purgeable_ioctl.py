"""Sets and reads isPurgeable with the ioctls of APFS and with the attribute: python3 purgeable_ioctl.py CONTAINER"""
import ctypes
import errno
import fcntl
import os
import struct
import sys

MARK, RESULT, READ = 0xC0084A44, 0x40084A47, 0x80084A47
KEY = "user.purgefs.isPurgeable"
failures = []


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r} instead of {wanted!r}")


def mark(fd, bits):
    """Sets the flags. Returns the flags in effect afterwards, or the name of the error."""
    data = bytearray(struct.pack("<Q", bits))
    try:
        fcntl.ioctl(fd, MARK, data)
    except OSError as error:
        return errno.errorcode[error.errno]
    return struct.unpack("<Q", data)[0]


def read(fd):
    data = bytearray(8)
    expect("result of READ", fcntl.ioctl(fd, READ, data), 0)
    found = struct.unpack("<Q", data)[0]
    expect("RESULT", fcntl.ioctl(fd, RESULT, bytearray(8)), found)
    return found


def attribute(path):
    try:
        return os.getxattr(path, KEY).decode()
    except OSError as error:
        return errno.errorcode[error.errno]


def as_user(uid, body):
    """Returns the result of `body` in a process of that user."""
    ends = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        os.write(ends[1], repr(body()).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(ends[1])
    text = os.read(ends[0], 4096).decode()
    os.close(ends[0])
    return eval(text)


root = sys.argv[1]
path = root + "/Documents/file"
with open(path, "wb") as file:
    file.write(b"x" * 5000)
fd = os.open(path, os.O_RDONLY)

expect("unmarked", (read(fd), attribute(path)), (0, "ENODATA"))
for bits, after, text in [
    (0x10200, 0x10200, "low"), (0x10400, 0x10400, "medium"), (0x10801, 0x10800, "high"), (0x10000, 0x10200, "low"),
    (0, 0, "0"),
]:
    expect(f"mark {bits:#x}", (mark(fd, bits), read(fd), attribute(path)), (after, after, text))
os.setxattr(path, KEY, b"medium")
expect("set as an attribute", read(fd), 0x10400)
for bits in [0x200, 0x10600, 0x100, 0x20000, 1 << 63, (1 << 64) - 1]:
    expect(f"mark {bits:#x}", (mark(fd, bits), attribute(path)), ("EINVAL", "medium"))
os.removexattr(path, KEY)
expect("removed", read(fd), 0)

# The mark of a folder is for everything below it, with and without the bit for its entries.
folder = root + "/Documents/folder"
os.mkdir(folder)
with open(folder + "/inner", "wb") as file:
    file.write(b"x" * 5000)
folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
expect("unmarked folder", (read(folder_fd), attribute(folder)), (0, "ENODATA"))
for bits, after, text in [(0x12005, 0x12200, "low"), (0x10205, 0x12200, "low"), (0x12800, 0x12800, "high"), (0, 0, "0")]:
    expect(f"mark folder {bits:#x}", (mark(folder_fd, bits), read(folder_fd), attribute(folder)), (after, after, text))
    reclaimable = open(root + "/.purgefs/storage.reclaimable").read()
    expect(f"reclaimable with {bits:#x}", reclaimable, "8192\n" if bits else "0\n")
expect("mark folder 0x2005", (mark(folder_fd, 0x2005), attribute(folder)), ("EINVAL", "0"))
os.setxattr(folder, KEY, b"medium")
expect("folder set as an attribute", read(folder_fd), 0x12400)
inner_fd = os.open(folder + "/inner", os.O_RDONLY)
expect("inherited", read(inner_fd), 0)
expect("the bit for entries of a file", (mark(inner_fd, 0x12005), read(inner_fd)), (0x10200, 0x10200))
os.close(inner_fd)
if os.geteuid() == 0:
    expect("not the folder's owner", as_user(12345, lambda: mark(folder_fd, 0x10200)), "EPERM")
    expect("not the owner reads the folder", as_user(12345, lambda: read(folder_fd)), 0x12400)
    os.chown(folder, 12345, 12345)
    expect("the folder's owner", as_user(12345, lambda: mark(folder_fd, 0x12800)), 0x12800)
os.unlink(folder + "/inner")
os.rmdir(folder)
expect("a folder without a name", (mark(folder_fd, 0x12200), read(folder_fd)), (0x12200, 0x12200))
os.close(folder_fd)

# Other ioctl numbers and control files give ENOTTY.
for number in [0x5401, 0xC0084A45, 0x4A44, 0xC0044A44, 0x80086601]:
    try:
        fcntl.ioctl(fd, number, bytearray(64))
        expect(f"ioctl {number:#x}", "accepted", "ENOTTY")
    except OSError as error:
        expect(f"ioctl {number:#x}", errno.errorcode[error.errno], "ENOTTY")
for other in [root + "/.purgefs", root + "/.purgefs/status.json"]:
    other_fd = os.open(other, os.O_RDONLY)
    expect(f"mark {other}", mark(other_fd, 0x10200), "ENOTTY")
    os.close(other_fd)
libc = ctypes.CDLL(None, use_errno=True)
result = libc.ioctl(fd, ctypes.c_ulong(MARK), ctypes.c_void_p(8))
expect("a bad address", (result, errno.errorcode[ctypes.get_errno()]), (-1, "EFAULT"))

# Only the owner, root, and holders of a descriptor for writing may mark.
if os.geteuid() == 0:
    os.chmod(path, 0o666)
    others = os.open(path, os.O_RDONLY)
    expect("not the owner", as_user(12345, lambda: mark(others, 0x10200)), "EPERM")
    expect("not the owner reads", as_user(12345, lambda: read(others)), 0)
    expect("open for writing", as_user(12345, lambda: mark(os.open(path, os.O_WRONLY), 0x10200)), 0x10200)
    os.chown(path, 12345, 12345)
    expect("the owner", as_user(12345, lambda: mark(others, 0x10800)), 0x10800)
    expect("root", mark(others, 0), 0)

# A file without a name, and one that is passed through or mapped.
expect("marked", mark(fd, 0x10200), 0x10200)
os.unlink(path)
expect("without a name", (mark(fd, 0x10400), read(fd)), (0x10400, 0x10400))

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
