"""Moves a folder of purged names while its lock keeps the daemon from announcing them to the kernel.

moved_folder.py MOUNT: prints the number of names that open(2) with O_PATH still finds, and the number of names for which a
watcher of the folder got an event. A process writes a file from memory that does not arrive at first (userfaultfd). A rename
from the folder over that file waits for the write and holds the folder's lock."""
import errno
import os
import struct
import sys
import time

from held_memory import checked, held_by_a_rename, libc

COUNT = 300
IN_DELETE = 0x200

mount = sys.argv[1]
folder, moved, victim = f"{mount}/tmp/d", f"{mount}/tmp/e", f"{mount}/Documents/file"


def found(path):
    try:
        os.close(os.open(path, os.O_PATH))
        return True
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise
        return False


os.mkdir(folder)
for number in range(COUNT):
    with open(f"{folder}/f{number}", "wb") as file:
        file.write(b"x")
    os.stat(f"{folder}/f{number}")
with open(f"{folder}/new", "wb"), open(victim, "wb"):
    pass
kept = open(f"{folder}/new")
watcher = libc.inotify_init1(os.O_NONBLOCK)
checked(libc.inotify_add_watch(watcher, folder.encode(), IN_DELETE))

release = held_by_a_rename(f"{folder}/new", victim)
with open(f"{mount}/.purgefs/storage.reclaim", "wb", buffering=0) as file:
    file.write(b"tmp")
os.rename(folder, moved)
release()
left = sum(found(f"{moved}/f{number}") for number in range(COUNT))
deadline = time.monotonic() + 5
while left and time.monotonic() < deadline:
    time.sleep(0.01)
    left = sum(found(f"{moved}/f{number}") for number in range(COUNT))
told = set()
while True:
    try:
        events = os.read(watcher, 1 << 16)
    except BlockingIOError:
        break
    at = 0
    while at < len(events):
        _, _, _, length = struct.unpack_from("iIII", events, at)
        told.add(events[at + 16:at + 16 + length].rstrip(b"\0"))
        at += 16 + length
print(left, len(told))
