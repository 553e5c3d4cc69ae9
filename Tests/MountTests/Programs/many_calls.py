"""Makes each kind of call that a record has, in $HOME/Documents."""
import ctypes
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)
os.chdir(os.environ["HOME"] + "/Documents")

file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(file, b"nameless")
os.fchmod(file, 0o640)
os.fchown(file, os.getuid(), os.getgid())
os.setxattr(f"/proc/self/fd/{file}", "user.nameless", b"yes")
os.utime(file, ns=(-1_500_000_000, -2_500_000_000))
assert libc.linkat(-100, f"/proc/self/fd/{file}".encode(), -100, b"named", 0x400) == 0
os.close(file)

file = os.open("gone", os.O_CREAT | os.O_RDWR)
os.unlink("gone")
os.write(file, b"gone")
os.fsync(file)
os.close(file)

os.setxattr("named", "user.colour", b"red\0green")
os.setxattr("named", "user.size", b"")
os.removexattr("named", "user.size")
os.chmod("named", 0o644)
os.utime("named", (5, 6))
os.truncate("named", 3)
os.symlink("named", "symlink")
os.mkfifo("fifo")
os.mkdir("folder", 0o700)
os.link("named", "folder/hard")
os.rename("folder", "other")
os.rename("other/hard", "hard")
os.rmdir("other")
for name in ("one", "two"):
    with open(name, "w") as text:
        text.write(name)
assert libc.renameat2(-100, b"one", -100, b"two", 2) == 0
try:
    os.mkdir("one")
except FileExistsError:
    pass

with open("large", "wb") as large:
    large.write(bytes(range(256)) * 8192)
with open("large", "r+b") as large, mmap.mmap(large.fileno(), 2 << 20) as pages:
    pages[5000] = 77
    pages.flush()
file = os.open("large", os.O_WRONLY)
os.posix_fallocate(file, 0, 3 << 20)
assert libc.fallocate(file, 3, ctypes.c_long(8192), ctypes.c_long(4096)) == 0
os.close(file)
source, copy = os.open("large", os.O_RDONLY), os.open("copy", os.O_WRONLY | os.O_CREAT, 0o600)
os.sendfile(copy, source, 0, 100_000)
os.close(copy)
copy = os.open("copy", os.O_WRONLY | os.O_TRUNC)
os.copy_file_range(source, copy, 50_000, 0, 10)
os.fdatasync(copy)
folder = os.open(".", os.O_RDONLY)
os.fsync(folder)
