"""Signals `purgefs run`, `purgefs mount` and `purgefs mount --foreground` at moments of their start, up to one and a half times
the duration of a mount after it: by ^C and ^\\ at their terminal, by SIGINT to their process group, and by other signals to
them alone. Each must end at once with a status other than 0, and leave nothing behind. A mount in the foreground ends with 0
if it had already mounted.

usage: interrupts.py PURGEFS DIRECTORY COUNT        COUNT moments for each of the three
"""
import fcntl, os, pty, resource, signal, sys, termios, time

BINARY, SCRATCH, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
PATIENCE = 20
MANNERS = {
    "^C": signal.SIGINT, "SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM,
    "^\\": signal.SIGQUIT, "SIGQUIT": signal.SIGQUIT, "SIGHUP": signal.SIGHUP,
}
KEYS = {"^C": b"\x03", "^\\": b"\x1c"}


class Terminal:
    """The controlling terminal of this process, which leads its session as a shell does."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)

    def press(self, key):
        os.write(self.master, KEYS[key])


class Attempt:
    def __init__(self, verb, number, terminal, span):
        self.verb, self.terminal = verb, terminal
        self.manner = list(MANNERS)[number % len(MANNERS)]
        self.signal = MANNERS[self.manner]
        self.delay = span * number / COUNT
        name = verb.replace(" --", "-")
        self.place = f"{SCRATCH}/{name}-{number}"
        self.store, self.mountpoint, self.temporary = (f"{self.place}/{name}" for name in ("store", "mount", "tmp"))
        self.errors = f"{self.place}/errors"
        for path in (self.place, self.mountpoint, self.temporary):
            os.mkdir(path)
        self.token = f"PURGEFS_INTERRUPTS={os.getpid()}-{name}-{number}"
        if verb != "run":
            self.words = verb.split() + ["--total", "64M", self.store, self.mountpoint]
        else:
            store = ["--store", self.store] if number % 2 else []
            self.words = ["run", "--total", "64M"] + store + ["--", "sleep", "1000"]

    def start(self):
        begun, child_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(self.terminal.slave, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            for number in MANNERS.values():
                signal.signal(number, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(self.terminal.slave, 0)
            output = os.open(self.errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(output, 1)
            os.dup2(output, 2)
            name, value = self.token.split("=")
            # Swift's own handler of SIGQUIT prints a backtrace and lets the program continue.
            own = {"TMPDIR": self.temporary, "SWIFT_BACKTRACE": "enable=no", name: value}
            os.execve(BINARY, ["purgefs"] + self.words, os.environ | own)
        os.close(child_end)
        os.read(begun, 1)  # end of file, at the moment of the exec
        os.close(begun)
        self.pid, self.started = pid, time.monotonic()

    def tell(self):
        """Sends the signal. Returns whether the program still existed; `mount` is stopped first, so that this is certain."""
        while time.monotonic() < self.started + self.delay:
            time.sleep(min(0.0002, max(0, self.started + self.delay - time.monotonic())))
        os.kill(self.pid, signal.SIGSTOP if self.verb == "mount" else 0)
        if self.verb == "mount":
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
            if found.si_code != os.CLD_STOPPED:
                return False
            os.waitid(os.P_PID, self.pid, os.WSTOPPED)
        if self.manner in KEYS:
            self.terminal.press(self.manner)
        elif self.manner == "SIGINT":
            os.killpg(self.pid, self.signal)
        else:
            os.kill(self.pid, self.signal)
        # A terminal sends the signal from a thread of the kernel, often some milliseconds after the key was written.
        while self.verb == "mount" and not self.is_told():
            time.sleep(0.0002)
        os.kill(self.pid, signal.SIGCONT)
        return True

    def is_told(self):
        """Returns whether the signal is pending for the stopped program."""
        with open(f"/proc/{self.pid}/status") as status:
            pending = next(line.split()[1] for line in status if line.startswith("ShdPnd"))
        return int(pending, 16) >> (self.signal - 1) & 1

    def end(self):
        """Returns the status as a shell shows it, or None if the program does not end."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            time.sleep(0.001)
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None

    def mounts(self):
        with open("/proc/self/mountinfo", errors="surrogateescape") as table:
            return [line.split()[4] for line in table if f" {self.place}/" in line]

    def processes(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as environment:
                    if self.token.encode() in environment.read().split(b"\0"):
                        found.append(pid)
            except OSError:
                pass
        return found

    def remains(self, has_worked):
        """Returns everything that is left after every process has had time to end."""
        left = [f"mount {path}" for path in self.mounts()]
        deadline = time.monotonic() + 5
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.005)
        left += [f"process {pid}" for pid in self.processes()]
        left += [f"temporary {name}" for name in os.listdir(self.temporary)]
        # A store stays if its command has begun or if it was mounted.
        has_worked = has_worked or "purged" in open(self.errors).read()
        if os.path.exists(self.store) and not has_worked:
            left.append(f"store with {os.listdir(self.store)}")
        return left

    def clear(self):
        for path in self.mounts():
            os.system(f"fusermount3 -u -z '{path}'")
        for pid in self.processes():
            os.kill(int(pid), signal.SIGKILL)

    def duration(self):
        """Returns the seconds that an undisturbed `mount` takes."""
        self.start()
        status = self.end()
        duration = time.monotonic() - self.started
        os.spawnv(os.P_WAIT, BINARY, ["purgefs", "unmount", self.mountpoint])
        assert status == 0, open(self.errors).read()
        return duration

    def outcome(self):
        """Runs one attempt. Returns the status and the problems found."""
        self.start()
        was_told = self.tell()
        status = self.end()
        if not was_told:
            # A process that creates a mount namespace at this moment gets a copy of the mount, which keeps the daemon alive for
            # a while. That does not count.
            os.spawnv(os.P_WAIT, BINARY, ["purgefs", "unmount", self.mountpoint])
            return "done before", ([] if status == 0 else [f"status {status}"]) + self.mounts()
        has_worked = status == 0 and self.verb == "mount --foreground"
        wrong = [] if has_worked or status == 128 + self.signal else [f"status {status}"]
        left = self.remains(has_worked)
        if left:
            self.clear()
        return status, wrong + left


def main():
    os.setsid()
    terminal = Terminal()
    failures = 0
    span = 1.5 * Attempt("mount", COUNT, terminal, 0).duration()
    for verb in ("run", "mount", "mount --foreground"):
        tally = {}
        for number in range(COUNT):
            attempt = Attempt(verb, number, terminal, span)
            status, wrong = attempt.outcome()
            tally[status] = tally.get(status, 0) + 1
            if wrong:
                failures += 1
                said = open(attempt.errors).read()
                print(f"{verb}, {attempt.manner} after {attempt.delay * 1000:.1f} ms: {wrong}\n{said}")
        print(f"{verb}: {COUNT} times, status and number: {tally}")
    sys.exit(failures != 0)


# The leader of a process group cannot start a session.
child = os.fork()
if child == 0:
    main()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
