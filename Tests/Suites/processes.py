"""Programs, run with a time limit, and the end of whatever they leave running."""
import contextlib
import ctypes
import os
import signal
import subprocess
import time

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, linux/prctl.h


class Failed(Exception):
    """A suite cannot go on."""


def run(command, timeout=600, **options):
    """The ended process, its output as text; Failed when the time is over."""
    try:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", start_new_session=True, **options) as process:
            try:
                output, _ = process.communicate(timeout=timeout)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    raise Failed(f"{' '.join(command)[:200]}: not done after {timeout} s") from None
                raise
    except FileNotFoundError:
        raise Failed(f"{command[0]} is not installed: mount-scripts/install-deps suites") from None
    return subprocess.CompletedProcess(command, process.returncode, output)


def succeed(command, **options):
    """Its output; Failed if it does not end with 0."""
    done = run(command, **options)
    if done.returncode:
        raise Failed(f"{' '.join(command)[:200]} ended with {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


def wait_until(condition, seconds=30):
    """Whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def children(pid):
    """Processes whose parent this is."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(name))
        except OSError:
            continue
    return found


def adopt_orphans():
    """From now on every process that one of ours leaves behind becomes our own child."""
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def end_children(keep=None):
    """kill -9 of all that runs below us, but for the process `keep`. The children of those that end
    become ours, so it goes on until there are none."""
    while doomed := [pid for pid in children(os.getpid()) if pid != keep]:
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in doomed:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


@contextlib.contextmanager
def uninterrupted():
    """Ctrl-C and similar signals have no effect inside: for clean-up."""
    ignored = {number: signal.signal(number, signal.SIG_IGN)
               for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in ignored.items():
            signal.signal(number, handler)
