"""Keeps changing pages of files of class complete through mappings, and has them written back and read again.

    protection_dirty.py MOUNT

Prints a line when it has begun. It ends by a signal: one that it is sent, or SIGBUS when the files are out of reach. Its
children end with it.
"""
import ctypes
import mmap
import os
import signal
import sys

SIZE = 4 << 20
PR_SET_PDEATHSIG = 1  # linux/prctl.h

folder = os.path.join(sys.argv[1], "Documents", "dirty")
if not os.path.exists(folder):
    os.mkdir(folder)
    os.setxattr(folder, "user.purgefs.fileProtection", b"complete")
files = []
for number in range(4):
    fd = os.open(os.path.join(folder, str(number)), os.O_RDWR | os.O_CREAT, 0o644)
    if os.fstat(fd).st_size == 0:
        os.pwrite(fd, b"s" * SIZE, 0)
    files.append((fd, mmap.mmap(fd, SIZE)))
number = 0
while number < 3:
    parent = os.getpid()
    if os.fork():
        break
    # A process whose pages are all present never notices that the file system is gone.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit()
    number += 1
fd, memory = files[number]
print("begun", flush=True)
while True:
    for place in range(0, SIZE, 4096):
        memory[place] = memory[place] ^ 1
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
