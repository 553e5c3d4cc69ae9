"""A folder of purged names is moved while the kernel cannot be told about them.

moved_folder.py MOUNT: prints how many names are left for open(2) with O_PATH, and how many a watcher of
the folder was told about. A process writes a file from memory that never arrives (userfaultfd), and a rename
over that file from out of the folder waits for it, with the folder's lock."""
import ctypes
import errno
import fcntl
import mmap
import os
import select
import struct
import sys
import threading
import time

COUNT = 300
PAGE = mmap.PAGESIZE
UFFDIO_API, UFFDIO_REGISTER, MISSING = 0xC018AA3F, 0xC020AA00, 1
SYS_USERFAULTFD = {"x86_64": 323}.get(os.uname().machine, 282)
IN_DELETE = 0x200

libc = ctypes.CDLL(None, use_errno=True)
mount = sys.argv[1]
folder, moved, victim = f"{mount}/tmp/d", f"{mount}/tmp/e", f"{mount}/Documents/file"


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def eventually(what, holds):
    deadline = time.monotonic() + 20
    while not holds():
        if time.monotonic() > deadline:
            sys.exit(f"no {what} within 20 s")
        time.sleep(0.002)


def memory_that_does_not_come():
    faults = checked(libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC))
    fcntl.ioctl(faults, UFFDIO_API, bytearray(struct.pack("QQQ", 0xAA, 0, 0)))
    memory = mmap.mmap(-1, PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    fcntl.ioctl(faults, UFFDIO_REGISTER, bytearray(struct.pack("QQQQ", address, PAGE, MISSING, 0)))
    return faults, memory


def in_thread(call):
    """The kernel's id of the thread that makes the call."""
    ids = []
    thread = threading.Thread(target=lambda: (ids.append(threading.get_native_id()), call()))
    thread.start()
    eventually("thread", lambda: ids)
    return thread, ids[0]


def waits_for_a_lock(thread):
    with open(f"/proc/self/task/{thread}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "D"


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

faults, memory = memory_that_does_not_come()
target = os.open(victim, os.O_WRONLY)
writer, _ = in_thread(lambda: os.writev(target, [memory]))
eventually("write that waits for its memory", lambda: select.select([faults], [], [], 0)[0])
renamer, renaming = in_thread(lambda: os.rename(f"{folder}/new", victim))
eventually("rename that waits for the written file", lambda: waits_for_a_lock(renaming))
with open(f"{mount}/.purgefs/storage.reclaim", "wb", buffering=0) as file:
    file.write(b"tmp")
os.rename(folder, moved)
os.close(faults)
writer.join()
renamer.join()
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
