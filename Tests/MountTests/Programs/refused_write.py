"""Makes writes that the locked device refuses, while a mapping stores to the same page.

refused_write.py MOUNT FILE: ends once some stores got through before the kernel had dropped the page, and prints their number.
The kernel makes the accesses to the mapping, so a refused one is EFAULT and not SIGBUS."""
import mmap
import os
import sys
import tempfile
import threading
import time

from held_memory import PAGE, eventually

WANTED, SECONDS = 20, 30

mount, path = sys.argv[1:]


def command(name, text):
    with open(f"{mount}/.purgefs/{name}", "wb", buffering=0) as file:
        file.write(text.encode())


def succeeds(call):
    try:
        call()
        return True
    except OSError:
        return False


fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
os.write(fd, b"S" * 4 * PAGE)
os.setxattr(path, "user.purgefs.fileProtection", b"complete")
memory = mmap.mmap(fd, 4 * PAGE)
memory[0:1] = b"S"
source = tempfile.TemporaryFile(buffering=0)
source.write(b"M")
place = memoryview(memory)[PAGE:PAGE + 1]
command("device.state", "lock")
command("device.clock", "+10s")

ended = False
admitted = []


def write():
    page = b"E" * PAGE
    while not ended:
        if succeeds(lambda: os.pwrite(fd, page, PAGE)):
            admitted.append(1)


writer = threading.Thread(target=write)
writer.start()
stores = 0
deadline = time.monotonic() + SECONDS
while stores < WANTED and time.monotonic() < deadline:
    if succeeds(lambda: os.preadv(source.fileno(), [place], 0)):
        stores += 1
        succeeds(memory.flush)
ended = True
writer.join()
reader, sink = os.pipe()
eventually("drop of the page of a refused write", lambda: not succeeds(lambda: os.write(sink, place)))
succeeds(memory.flush)
if admitted:
    sys.exit("a write was admitted")
print(stores)
