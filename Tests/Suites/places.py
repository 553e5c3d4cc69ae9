"""The place where a suite works: a plain directory, or a mount with its own store, daemon and log."""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

from processes import Failed, end_children, succeed, uninterrupted, wait_until
from report import Result

HERE = os.path.dirname(os.path.realpath(__file__))
PURGEFS = os.environ.get("PURGEFS") or os.path.join(HERE, "../../.build/release/purgefs")
SCALE = float(os.environ.get("PURGEFS_TEST_SCALE", "1"))
TOTAL = 32 << 30
CENSUS = "purgefs: census:"
# The daemon logs its progress each second while it reads a large store.
READING = "purgefs: reading the store:"


class Clock:
    """Measures the seconds from lap to lap."""

    def __init__(self):
        self.last = time.monotonic()

    def lap(self):
        now = time.monotonic()
        self.last, before = now, self.last
        return now - before


def scaled(full, least=1):
    """Returns a count or duration times PURGEFS_TEST_SCALE."""
    return max(least, int(full * SCALE))


def drop_caches():
    """Drops unused names and inodes from the kernel's caches; three times, because recently used ones survive the first."""
    for _ in range(3):
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("2")


def remove(path):
    """Removes a tree, but never crosses a mount point."""
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=False)


class Scratch:
    """The directory that holds all files of a run, and is removed at its end."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="pfs.", dir=os.environ.get("PURGEFS_SUITES_DIR", "/var/tmp"))
        os.chmod(self.root, 0o755)
        return self

    def __exit__(self, *_):
        with uninterrupted():
            end_children()
            remove(self.root)
        if os.path.exists(self.root):
            print(f"suites: could not remove {self.root}", file=sys.stderr)

    def folder(self, *names):
        path = os.path.join(self.root, *names)
        os.makedirs(path)
        return path

    def plain(self, suite):
        # Has the same length as the path in a mount, because socket names must fit in 108 bytes.
        return Place("plain", self.folder(suite, "plain", "point", "Documents", "work"),
                     self.folder(suite, "plain", "outside"))

    def mount(self, suite, descriptors=None, environment=None):
        return MountedPlace(self, suite, descriptors, environment)


class Place:
    """A plain directory."""
    daemon = None

    def __init__(self, name, work, outside):
        self.name = name
        #: The directory in which the suite works.
        self.work = work
        #: A directory on the plain file system for logs and other files that are not tested.
        self.outside = outside

    def say(self, case, text):
        print(f"  {self.name:5}  {case:14} {text}", flush=True)

    def remount(self):
        os.sync()

    def end_programs(self):
        """Ends all programs that the suite has left running."""
        end_children()

    def clear(self):
        remove(self.work)


class MountedPlace(Place):
    """A directory in a mount, which the end of a `with` block always unmounts."""

    def __init__(self, scratch, suite, descriptors, environment):
        super().__init__("mount", None, scratch.folder(suite, "mount", "outside"))
        self.store = os.path.join(scratch.root, suite, "mount", "store")
        self.point = scratch.folder(suite, "mount", "point")
        self.log = os.path.join(self.outside, "daemon.log")
        #: The daemon's descriptor limit; None stands for the limit of this process.
        self.descriptors = descriptors
        self.environment = {**os.environ, **(environment or {})}
        self.end = Result("was never unmounted")

    def __enter__(self):
        self.work = os.path.join(self.point, "Documents", "work")
        try:
            self.mount()
            os.mkdir(self.work)
        except BaseException:
            with uninterrupted():
                self.unmount()
            raise
        return self

    def __exit__(self, *_):
        clock = Clock()
        with uninterrupted():
            value = self.unmount() or self.check()
        self.end = Result(value or "ok: the daemon ended with 0, nothing wrong in its log; store in order", clock.lap())

    def mount(self):
        disk = os.statvfs(os.path.dirname(self.store))
        total = min(TOTAL, int(disk.f_bavail * disk.f_frsize * 0.9))
        command = [PURGEFS, "mount", "--foreground", "--allow-other", "--total", str(total), self.store, self.point]
        with open(self.log, "a") as log:
            self.daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           env=self.environment, start_new_session=True, preexec_fn=self.limit)
        ready = os.path.join(self.point, ".purgefs", "status.json")
        if not wait_until(lambda: os.path.exists(ready) or self.daemon.poll() is not None):
            raise Failed("the mount does not work")
        if self.daemon.poll() is not None:
            raise Failed(f"the daemon ended with {self.daemon.returncode}: {self.said()[-2000:]}")

    def end_programs(self):
        end_children(keep=self.daemon and self.daemon.pid)

    def limit(self):
        if self.descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def said(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def unmount(self):
        """Ends the mount and the daemon. Returns a description of what went wrong, or an empty string."""
        if self.daemon is None:
            return "was not mounted any more"
        done = subprocess.run([PURGEFS, "unmount", self.point], capture_output=True, text=True, check=False)
        wrong = f"unmount: {done.stderr}" if done.returncode else ""
        if done.returncode:
            subprocess.run(["umount", "-l", self.point], capture_output=True, check=False)
        if not wait_until(lambda: self.daemon.poll() is not None):
            os.killpg(self.daemon.pid, signal.SIGKILL)
            self.daemon.wait()
            wrong = wrong or "the daemon did not end"
        if not wrong and self.daemon.returncode:
            wrong = f"the daemon ended with {self.daemon.returncode}: {self.said()[-2000:]}"
        warnings = [line for line in self.said().splitlines() if not line.startswith((CENSUS, READING))]
        self.daemon = None
        return wrong or (f"the log says: {' / '.join(warnings)[-2000:]}" if warnings else "")

    def crash(self):
        """Kills the daemon with SIGKILL, and detaches the dead mount."""
        self.daemon.kill()
        self.daemon.wait()
        self.daemon = None
        subprocess.run(["umount", "-l", self.point], capture_output=True, check=False)

    def check(self):
        """Returns the findings of `purgefs check` in the store, or an empty string."""
        done = subprocess.run([PURGEFS, "check", self.store], capture_output=True, text=True, check=False)
        return f"check: {done.stdout}{done.stderr}" if done.returncode else ""

    def remount(self):
        wrong = self.unmount()
        if wrong:
            raise Failed(wrong)
        self.mount()

    def control(self, name):
        with open(os.path.join(self.point, ".purgefs", name)) as file:
            return file.read().strip()

    def state(self):
        """Compares the ledger with the files while they are mounted."""
        clock = Clock()
        used = int(self.control("storage.used"))
        found = int(succeed(["du", "-s", "-B1", self.point]).split()[0])
        value = "ok: du and storage.used agree" if used == found else f"storage.used is {used}, du says {found}"
        return Result(value, clock.lap())

    def resident(self):
        with open(f"/proc/{self.daemon.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    def census(self):
        """Returns the counts of live objects that the daemon reports after SIGUSR1."""
        before = self.census_lines()
        self.daemon.send_signal(signal.SIGUSR1)
        if not wait_until(lambda: len(self.census_lines()) > len(before)):
            raise Failed("no census")
        return {name: int(value) for name, value in (word.split("=") for word in self.census_lines()[-1].split()[2:])}

    def census_lines(self):
        with open(self.log, errors="replace") as file:
            return [line for line in file.read().splitlines() if line.startswith(CENSUS)]
