"""Memory that arrives only on request (userfaultfd), for calls that meanwhile hold a lock of the kernel."""
import ctypes
import fcntl
import mmap
import os
import select
import struct
import sys
import threading
import time

PAGE = mmap.PAGESIZE
UFFDIO_API, UFFDIO_REGISTER, MISSING = 0xC018AA3F, 0xC020AA00, 1
SYS_USERFAULTFD = {"x86_64": 323}.get(os.uname().machine, 282)

libc = ctypes.CDLL(None, use_errno=True)


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


class HeldMemory:
    """A page of memory. A call that touches it waits until `release`."""

    def __init__(self):
        # Without O_NONBLOCK, select(2) always reports it as readable: userfaultfd(2).
        self.faults = checked(libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC | os.O_NONBLOCK))
        fcntl.ioctl(self.faults, UFFDIO_API, bytearray(struct.pack("QQQ", 0xAA, 0, 0)))
        self.memory = mmap.mmap(-1, PAGE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        fcntl.ioctl(self.faults, UFFDIO_REGISTER, bytearray(struct.pack("QQQQ", self.address, PAGE, MISSING, 0)))

    def await_call(self):
        eventually("call that waits for its memory", lambda: select.select([self.faults], [], [], 0)[0])

    def release(self):
        os.close(self.faults)


def in_thread(call):
    """Makes the call in a daemon thread. Returns the thread and its kernel id."""
    ids = []
    thread = threading.Thread(target=lambda: (ids.append(threading.get_native_id()), call()), daemon=True)
    thread.start()
    eventually("thread", lambda: ids)
    return thread, ids[0]


def waits_for_a_lock(thread):
    with open(f"/proc/self/task/{thread}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "D"


def held_by_a_rename(name, target):
    """Renames a file over one that is being written, which keeps the folder locked. Returns the function that ends it."""
    held = HeldMemory()
    fd = os.open(target, os.O_WRONLY)
    writer, _ = in_thread(lambda: os.writev(fd, [held.memory]))
    held.await_call()
    renamer, renaming = in_thread(lambda: os.rename(name, target))
    eventually("rename that waits for the written file", lambda: waits_for_a_lock(renaming))

    def release():
        held.release()
        writer.join()
        renamer.join()

    return release
