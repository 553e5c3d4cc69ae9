"""Keeps writing parts of pages to unlinked files of class complete, while all these writes are refused.

refused_storm.py MOUNT: prints a line when the device is locked and writes are refused. It ends by a signal, or when the file
system is gone. Its children end with it."""
import ctypes
import errno
import os
import random
import signal
import sys

PAGE = 4096
SIZE = 64 * PAGE
PR_SET_PDEATHSIG = 1  # linux/prctl.h

mount = sys.argv[1]


def command(name, text):
    with open(f"{mount}/.purgefs/{name}", "wb", buffering=0) as file:
        file.write(text.encode())


def nameless(number):
    path = f"{mount}/Documents/nameless{number}"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.setxattr(path, "user.purgefs.fileProtection", b"complete")
    os.unlink(path)
    os.write(fd, b"s" * SIZE)
    return fd


# The daemon opens files under numbers as names in the control directory. Even after these lookups, the kernel must
# not cache that a number is missing.
for number in range(1000):
    assert not os.path.exists(f"{mount}/.purgefs/{number}")
fds = [nameless(number) for number in range(4)]
command("device.state", "lock")
command("device.clock", "+10s")
for fd in fds:
    for number in range(2):
        if os.fork():
            continue
        random.seed(f"{fd} {number}")
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        while True:
            place = random.randrange(SIZE // PAGE) * PAGE
            try:
                os.pwrite(fd, b"r" * random.choice([100, PAGE, PAGE + 100, 16 * PAGE + 100]), place)
                sys.exit("a write was admitted")
            except OSError as error:
                if error.errno != errno.EPERM:
                    sys.exit()
print("begun", flush=True)
for _ in range(2 * len(fds)):
    os.wait()
