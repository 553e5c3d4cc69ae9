"""Locks and unlocks under load. No read succeeds in any way once the command has returned.

    protection_storm.py MOUNT ROUNDS

Processes keep reading, mapping, writing and opening files of class complete while the device is locked and unlocked. Before a
call, each records whether the locking command has returned. If it had, and the unlock has not begun when the call ends, the
call must have been refused. Prints the violations, and how many calls were refused and admitted.
"""
import ctypes
import errno
import mmap
import os
import random
import sys
import time

PAGE = 4096
SIZE = 64 * PAGE
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def control(mount, name, text):
    fd = os.open(os.path.join(mount, ".purgefs", name), os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def mapped(fd):
    address = libc.mmap(None, SIZE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    return address


class Storm:
    """State that the processes share: the number of the lock in effect (0: none), the end, and the processes that are ready."""

    def __init__(self, folder):
        self.folder = folder
        self.shared = memoryview(mmap.mmap(-1, PAGE)).cast("Q")
        with open(os.path.join(folder, "shared"), "wb") as file:
            file.write(b"s" * SIZE)

    def calls(self, number):
        own = os.path.join(self.folder, f"own{number}")
        with open(own, "wb") as file:
            file.write(b"s" * SIZE)
        names = [own, os.path.join(self.folder, "shared")]
        fds = [os.open(name, os.O_RDWR) for name in names]
        maps = [mapped(fd) for fd in fds]
        memory = os.open("/proc/self/mem", os.O_RDWR)
        draw = random.Random(number)

        def place():
            return draw.randrange(SIZE // PAGE) * PAGE

        def opened():
            os.close(os.open(draw.choice(names), os.O_RDONLY))

        return [
            lambda: os.pread(draw.choice(fds), draw.choice([1, PAGE, SIZE]), place()),
            lambda: os.pread(memory, 8, draw.choice(maps) + place()),
            lambda: os.pwrite(memory, b"x" * 8, draw.choice(maps) + place()),
            lambda: os.pwrite(draw.choice(fds), b"w" * 100, place()),
            lambda: os.preadv(draw.choice(fds), [bytearray(PAGE), bytearray(PAGE)], place()),
            lambda: os.posix_fadvise(draw.choice(fds), 0, 0, os.POSIX_FADV_WILLNEED) or os.pread(fds[0], 1, place()),
            opened,
        ], draw

    def run(self, number, report):
        calls, draw = self.calls(number)
        admitted = refused = 0
        self.shared[2 + number] = 1
        while not self.shared[1]:
            index = draw.randrange(len(calls))
            before = self.shared[0]
            try:
                calls[index]()
                admitted += 1
                if before != 0 and self.shared[0] == before:
                    report(f"process {number}: call {index} was admitted under lock {before}")
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.EIO):
                    report(f"process {number}: call {index}: {error}")
                refused += 1
        report(f"{admitted} {refused}")


def started(storm, count):
    """Starts the processes. Returns them once all are ready, and the pipe on which they report."""
    source, sink = os.pipe()
    children = []
    for number in range(count):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(source)
                storm.run(number, lambda text: os.write(sink, (text + "\n").encode()))
                status = 0
            except BaseException as error:
                sys.stderr.write(f"process {number}: {error!r}\n")
            finally:
                os._exit(status)
        children.append(pid)
    os.close(sink)
    while sum(storm.shared[2:2 + count]) < count:
        if os.waitpid(-1, os.WNOHANG)[0] != 0:
            sys.exit("a process has failed")
        time.sleep(0.01)
    return children, source


def change_states(mount, storm, rounds):
    for number in range(1, rounds + 1):
        if number % 4 == 0:
            control(mount, "device.state", "reboot")
        else:
            control(mount, "device.state", "lock")
            control(mount, "device.clock", "+10s")
        storm.shared[0] = number
        time.sleep(0.02)
        storm.shared[0] = 0
        control(mount, "device.state", "unlock")
        time.sleep(0.02)


def main(mount, rounds):
    folder = os.path.join(mount, "Documents", "storm")
    os.mkdir(folder)
    os.setxattr(folder, "user.purgefs.fileProtection", b"complete")
    storm = Storm(folder)
    children, source = started(storm, 6)
    change_states(mount, storm, rounds)
    storm.shared[1] = 1
    with os.fdopen(source) as lines:
        texts = lines.read().splitlines()
    failed = [os.waitpid(pid, 0)[1] for pid in children]
    counts = [text.split() for text in texts if text.replace(" ", "").isdigit()]
    problems = [text for text in texts if not text.replace(" ", "").isdigit()]
    for problem in problems[:20]:
        print(problem)
    print("admitted", sum(int(pair[0]) for pair in counts), "refused", sum(int(pair[1]) for pair in counts))
    sys.exit(1 if problems or any(failed) else 0)


main(sys.argv[1], int(sys.argv[2]))
