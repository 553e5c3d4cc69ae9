"""Runs calls on a file that purge, while a partner renames over the file, renames it, unlinks it or links to it. Each
partner holds the directory of the victims and waits for the file.

deadlock.py MOUNT PARTNER CALL ROUNDS: prints the number of answers sent before the purge was announced. If there were none, it
makes up to 50 times as many rounds. The container must be empty and have no thresholds."""
import ctypes
import mmap
import os
import random
import sys
import time

BLOCK = 4096
VICTIMS = 24
SIZE = VICTIMS * BLOCK
libc = ctypes.CDLL(None, use_errno=True)

mount, partner, call, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
random.seed(f"{partner} {call}")


def control(name, text=None):
    with open(f"{mount}/.purgefs/{name}", "rb+" if text else "rb", buffering=0) as file:
        return file.write(text.encode()) if text else file.read().decode()


class Round:
    """The file and the victims' directory. For unlink, that is the file's own directory. If the file moves into the victims'
    directory, its writes must still be able to purge."""

    def __init__(self):
        self.victims = f"{mount}/tmp"
        self.home = f"{mount}/Documents"
        if partner in ("unlink", "of"):
            self.victims = f"{mount}/Documents/v"
            os.mkdir(self.victims)
            os.setxattr(self.victims, "user.purgefs.isPurgeable", b"1")
        if partner == "unlink":
            self.home = self.victims
        self.file = f"{self.home}/file"
        self.others = [f"{self.victims}/new", f"{self.victims}/moved", f"{self.victims}/link"]
        self.source = os.open(f"{mount}/Documents/source", os.O_RDWR | os.O_CREAT)
        os.pwrite(self.source, b"s" * SIZE, 0)
        free = int(control("storage.available"))
        control("storage.others", f"+{free - SIZE}")

    def prepare(self):
        self.fd = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o644)
        if partner in ("unlink", "of"):
            os.setxattr(self.file, "user.purgefs.isPurgeable", b"0")
        if partner == "over":
            os.close(os.open(self.others[0], os.O_WRONLY | os.O_CREAT, 0o644))
        for number in range(VICTIMS):
            fd = os.open(f"{self.victims}/{number}", os.O_WRONLY | os.O_CREAT, 0o644)
            os.pwrite(fd, b"v" * BLOCK, 0)
            os.close(fd)
        os.listdir(self.victims)
        if call in ("fsync", "truncate"):
            os.ftruncate(self.fd, SIZE)
            self.map = mmap.mmap(self.fd, SIZE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
            for at in range(0, SIZE, BLOCK):
                self.map[at] = 1

    def purge(self):
        if call == "write":
            os.pwrite(self.fd, b"w" * SIZE, 0)
        elif call == "copy":
            os.copy_file_range(self.source, self.fd, SIZE, 0, 0)
        elif call == "fallocate":
            os.posix_fallocate(self.fd, 0, SIZE)
        elif call == "fsync":
            os.fsync(self.fd)
        else:
            # Starts the write-back. The truncation waits until it has finished.
            libc.sync_file_range(self.fd, ctypes.c_int64(0), ctypes.c_int64(0), 2)
            os.ftruncate(self.fd, SIZE // 2)

    def disturb(self):
        if partner == "over":
            os.rename(self.others[0], self.file)
        elif partner == "of":
            os.rename(self.file, self.others[1])
        elif partner == "unlink":
            os.unlink(self.file)
        else:
            os.link(self.file, self.others[2])

    def check(self):
        """Checks that the victims are gone for every process, whatever the kernel had cached."""
        for number in range(VICTIMS):
            try:
                os.stat(f"{self.victims}/{number}")
            except FileNotFoundError:
                continue
            sys.exit(f"{number} can still be seen")
        if left := [name for name in os.listdir(self.victims) if name.isdigit()]:
            sys.exit(f"{left} are still listed")

    def clear(self):
        if call in ("fsync", "truncate"):
            self.map.close()
        os.ftruncate(self.fd, 0)
        os.close(self.fd)
        for path in [self.file, *self.others]:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass


def serve(round, requests, answers):
    """Runs the partner, which makes one call for each request."""
    while True:
        delay = os.read(requests, 8)
        if not delay:
            os._exit(0)
        end = time.monotonic_ns() + int.from_bytes(delay, "little")
        while time.monotonic_ns() < end:
            pass
        round.disturb()
        os.write(answers, b".")


def late():
    return int(control("storage.stat").split("announcements.late ")[-1])


def main():
    round = Round()
    requests, answers = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(requests[1])
        serve(round, requests[0], answers[1])
    done = 0
    while done < rounds or not late() and done < 50 * rounds:
        done += 1
        round.prepare()
        os.write(requests[1], random.randrange(1_200_000).to_bytes(8, "little"))
        round.purge()
        if os.read(answers[0], 1) != b".":
            sys.exit("the partner has failed")
        round.check()
        round.clear()
    os.close(requests[1])
    os.waitpid(child, 0)
    print(late())


main()
