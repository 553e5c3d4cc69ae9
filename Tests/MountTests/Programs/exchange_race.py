#!/usr/bin/env python3
"""Root works in the folder of an ordinary user, who exchanges names there as fast as renameat2(2) allows.

usage: exchange_race.py PURGEFS DIRECTORY WORK ROUNDS [delay]

WORK is restore, create, store (a new store for `run`), copy (a new store for `run` that begins as a copy), mark, or folder
(`mark` below a folder that is exchanged). With `delay`, strace(1) delays each return of mkdirat, openat and renameat2 in
purgefs by half a millisecond. Root's entries lie in the user's folder or are the target of the user's link. Prints how often
one of them was given away, changed or written to. Ends with 1 if one was, or if the race proves nothing because no names were
exchanged or purgefs never succeeded. Until purgefs succeeds, there are up to MORE extra rounds.
"""
import ctypes
import mmap
import os
import shutil
import signal
import subprocess
import sys

USER = 65534
AT_FDCWD, EXCHANGE = -100, 2
libc = ctypes.CDLL(None, use_errno=True)
MARKED = "user.purgefs.isPurgeable"
MORE = 200
# The number of exchanges, counted by the processes that make them.
exchanges = memoryview(mmap.mmap(-1, 8)).cast("q")


def exchange(one, other):
    return libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, EXCHANGE)


def race(one, other):
    """Starts a process of the user that exchanges the two names until it is killed."""
    child = os.fork()
    if child:
        return child
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    one, other = one.encode(), other.encode()
    while True:
        if exchange(one, other) == 0:
            exchanges[0] += 1


class Round:
    """One attempt, in a new folder of the user's."""

    def __init__(self, purgefs, base, work, number, delay):
        self.base, self.work, self.purgefs, self.delay = base, work, purgefs, delay
        self.place = f"{base}/place"
        shutil.rmtree(self.place, ignore_errors=True)
        os.mkdir(self.place, 0o755)
        os.chown(self.place, USER, USER)
        self.decoy = f"{self.place}/decoy"
        os.mkdir(self.decoy, 0o700)
        # Without a file, the decoy looks like a new directory. A directory with only a store's names would be a store
        # for anyone who opens it by that name.
        self.makesStore = work in ("store", "copy")
        self.hasFile, self.file = number % 2 == 0, "file" if self.makesStore else "journal.sqlite"
        if self.hasFile:
            with open(f"{self.decoy}/{self.file}", "w") as file:
                file.write("root's")
        # Kept open so that its inode number cannot be reused after a deletion.
        self.open = os.open(self.decoy, os.O_PATH)
        self.inode = os.fstat(self.open).st_ino

    def run(self):
        target = f"{self.place}/target"
        if not self.makesStore:
            os.mkdir(target, 0o700)
            os.chown(target, USER, USER)
        words = {
            "restore": ["backup", "restore", f"{self.base}/backup", target],
            "create": ["backup", "create", f"{self.base}/source", "--output", target],
            "store": ["run", "--quiet", "--store", target, "--", "true"],
            "copy": ["run", "--quiet", "--copy-of", f"{self.base}/source", "--store", target, "--", "true"],
        }[self.work]
        made = {"restore": ".target.unfinished-restore", "create": ".target.unfinished-backup"}
        racer = race(self.decoy, f"{self.place}/{made.get(self.work, 'target')}")
        try:
            return self.start(words)
        finally:
            os.kill(racer, signal.SIGKILL)
            os.waitpid(racer, 0)

    def start(self, words):
        delays = []
        if self.delay:
            calls = ["mkdir", "mkdirat", "openat", "renameat2"]
            delays = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + ",".join(calls)]
            for call in calls:
                delays += ["-e", f"inject={call}:delay_exit=500"]
        done = subprocess.run(delays + [self.purgefs] + words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return done.returncode, done.stderr.decode(errors="replace").strip()

    def harm(self):
        """Returns the changes to root's folder, wherever it is now."""
        try:
            return self.changes()
        finally:
            os.close(self.open)

    def changes(self):
        for folder, names, files in os.walk(self.place):
            for name in names:
                path = f"{folder}/{name}"
                status = os.lstat(path)
                if status.st_ino != self.inode:
                    continue
                found = []
                if status.st_uid != 0:
                    found.append("given away")
                if status.st_mode & 0o7777 != 0o700:
                    found.append("mode changed")
                inside = sorted(os.listdir(path))
                if self.hasFile and self.file not in inside:
                    found.append("file deleted")
                if inside != ([self.file] if self.hasFile else []):
                    found.append("written to")
                if self.hasFile and self.file in inside:
                    with open(f"{path}/{self.file}", "rb") as file:
                        if file.read() != b"root's":
                            found.append("file changed")
                    if os.stat(f"{path}/{self.file}").st_uid != 0:
                        found.append("file given away")
                return found
        # The user may delete root's empty directory.
        return ["folder deleted"] if self.hasFile else []


class Marking(Round):
    """Runs `mark` on a file that is exchanged for a link, or on a file in a folder that is."""

    def __init__(self, purgefs, base, work, number, delay):
        self.base, self.work, self.purgefs, self.delay = base, work, purgefs, delay
        self.outside = f"{base}/outside"
        shutil.rmtree(self.outside, ignore_errors=True)
        os.mkdir(self.outside)
        with open(f"{self.outside}/file", "w") as file:
            file.write("root's")
        self.folder = f"{base}/source/container/Documents"
        subprocess.run(["rm", "-rf", f"{self.folder}/race"], check=True)
        os.makedirs(f"{self.folder}/race/inner")
        with open(f"{self.folder}/race/inner/file", "w") as file:
            file.write("the user's")
        subprocess.run(["chown", "-R", f"{USER}:{USER}", f"{base}/source"], check=True)

    def run(self):
        inner = f"{self.folder}/race/inner"
        if self.work == "mark":
            link, name = f"{inner}/link", f"{inner}/file"
            os.symlink(f"{self.outside}/file", link)
        else:
            link, name = f"{self.folder}/race/link", inner
            os.symlink(self.outside, link)
        os.lchown(link, USER, USER)
        racer = race(name, link)
        try:
            return self.start(["mark", "--purgeable", f"{inner}/file"])
        finally:
            os.kill(racer, signal.SIGKILL)
            os.waitpid(racer, 0)

    def harm(self):
        return ["marked"] if MARKED in os.listxattr(f"{self.outside}/file") else []


def prepare(purgefs, base):
    """Creates a store that belongs to the user, and a backup of it."""
    os.makedirs(f"{base}/source")
    os.chown(f"{base}/source", USER, USER)
    run = [purgefs, "run", "--quiet", "--store", f"{base}/source", "--", "sh", "-c", "echo x > $HOME/Documents/x"]
    subprocess.run(run, check=True)
    subprocess.run([purgefs, "backup", "create", f"{base}/source", "--output", f"{base}/backup"], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    purgefs, base, work, rounds = sys.argv[1], f"{sys.argv[2]}/race-{sys.argv[3]}", sys.argv[3], int(sys.argv[4])
    delay = "delay" in sys.argv[5:]
    os.makedirs(base, mode=0o755)
    prepare(purgefs, base)
    kind = Marking if work in ("mark", "folder") else Round
    ends, harms = {}, {}
    harmed = number = 0
    while number < rounds or 0 not in ends and number < rounds + MORE:
        one = kind(purgefs, base, work, number, delay)
        status, errors = one.run()
        ends[status] = ends.get(status, 0) + 1
        if status not in (0, 1, 125):
            print(f"round {number}: status {status}: {errors}")
        found = one.harm()
        harmed += bool(found)
        for what in found:
            harms[what] = harms.get(what, 0) + 1
        number += 1
    print(f"{work}{' with delay' if delay else ''}: {number} rounds, {exchanges[0]} exchanges, ended {ends}, "
          f"harmed {harmed} {harms}")
    isProof = exchanges[0] > 0 and 0 in ends
    return 1 if harmed or not isProof or not set(ends) <= {0, 1, 125} else 0


sys.exit(main())
