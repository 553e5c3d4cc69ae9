"""Runs programs with a time limit, and ends all processes that they leave running."""
import contextlib
import ctypes
import os
import signal
import subprocess
import time

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, linux/prctl.h


class Failed(Exception):
    """The suite cannot continue."""


def run(command, timeout=600, **options):
    """Runs a command and returns the completed process, with its output as text. Raises Failed after `timeout` seconds."""
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
    """Runs a command and returns its output. Raises Failed if its status is not 0."""
    done = run(command, **options)
    if done.returncode:
        raise Failed(f"{' '.join(command)[:200]} ended with {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


def wait_until(condition, seconds=30):
    """Waits until the condition is true. Returns false if that takes too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def children(pid):
    """Returns the child processes of `pid`."""
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
    """Makes every orphan of our processes our own child from now on."""
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def end_children(keep=None):
    """Kills all our descendants except `keep` with SIGKILL.

    The children of a killed process become ours, so this repeats until no process is left.
    """
    while doomed := [pid for pid in children(os.getpid()) if pid != keep]:
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in doomed:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


@contextlib.contextmanager
def uninterrupted():
    """Ignores Ctrl-C and similar signals during a clean-up."""
    ignored = {number: signal.signal(number, signal.SIG_IGN)
               for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in ignored.items():
            signal.signal(number, handler)
