"""Shared parts of posix_*.py: the list of checks, and calls whose outcome is a plain value.

A check is a function that runs in a process of its own, with a new, empty working directory. It returns a value that JSON can
represent, without absolute times, inode numbers or paths. It runs once on a mount and once in a plain directory, and both
results must agree.
"""
import ctypes
import errno
import json
import os
import signal
import stat
import time

CHECKS = {}
# Two unprivileged users and two groups. None of them needs an account.
ALICE, BOB, STAFF, CREW = 65001, 65002, 65101, 65102


def check(function=None, *, root=False, needs=()):
    """Adds a check. `root` means that it needs other users or privileges, and `needs` names features of the plain side."""
    def add(function):
        if function.__name__ in CHECKS:
            raise ValueError(f"two checks are called {function.__name__}")
        function.root, function.needs = root, needs
        CHECKS[function.__name__] = function
        return function
    return add(function) if function else add


def error_name(error):
    return errno.errorcode.get(error.errno, str(error.errno))


def got(function, *arguments, **keywords):
    """Returns `ok`, or the name of the errno."""
    try:
        result = function(*arguments, **keywords)
    except OSError as error:
        return error_name(error)
    if function is os.open:
        os.close(result)
    return "ok"


def value(function, *arguments, **keywords):
    """Returns the call's result, or the name of the errno."""
    try:
        result = function(*arguments, **keywords)
    except OSError as error:
        return error_name(error)
    return readable(result)


def readable(result):
    if isinstance(result, bytes):
        return result.decode("latin-1")
    if isinstance(result, (list, tuple, set)):
        return [readable(item) for item in (sorted(result) if isinstance(result, set) else result)]
    return result


libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    """Calls a function of the C library with bytes and integers. Raises OSError for -1."""
    function = getattr(libc, name)
    function.restype = ctypes.c_long
    ready = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    result = function(*ready)
    if result in (-1, 0xFFFFFFFF):  # an int result leaves the upper half of the register undefined
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def put(path, content=b"x", mode=0o644):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view):]
    os.chmod(path, mode)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def mode(path):
    return oct(stat.S_IMODE(os.lstat(path).st_mode))


def describe(path):
    """Returns kind, mode, owner, links and, for files and links, the size of a path."""
    status = os.lstat(path)
    kind = stat.filemode(status.st_mode)
    size = status.st_size if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode) else None
    return [kind, oct(stat.S_IMODE(status.st_mode)), status.st_uid, status.st_gid, status.st_nlink, size]


def names(path="."):
    return sorted(readable(os.listdir(os.fsencode(path))))


def eventually(condition, what, seconds=20):
    """Waits for a condition. No result depends on how long it takes."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.0005)


def tick():
    """Waits until a new time stamp differs from all earlier ones."""
    def coarse():  # file systems stamp with CLOCK_REALTIME_COARSE
        return time.clock_gettime_ns(5)
    began = coarse()
    eventually(lambda: coarse() > began + 4_000_000, "the clock")


class Child:
    """A function in a process of its own. `result` waits for its return value."""

    def __init__(self, function, *arguments):
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.reader)
                try:
                    report = {"value": readable(function(*arguments))}
                except OSError as error:
                    report = {"value": "raised " + error_name(error)}
                data = json.dumps(report).encode()
                while data:
                    data = data[os.write(writer, data):]
                status = 0
            except BaseException:
                import traceback
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writer)

    def result(self):
        data = b""
        while chunk := os.read(self.reader, 65536):
            data += chunk
        os.close(self.reader)
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(status):
            return signal.Signals(os.WTERMSIG(status)).name
        if status != 0:
            raise RuntimeError("a child of the check failed")
        return json.loads(data)["value"]


def in_child(function, *arguments):
    return Child(function, *arguments).result()


def as_user(user, function, *arguments, group=None, groups=()):
    """Returns the function's value when an ordinary user runs it, in this process. The saved IDs stay root's."""
    group = user if group is None else group
    own_groups, directory, mask = os.getgroups(), os.open(".", os.O_PATH), os.umask(0)
    os.umask(mask)
    try:
        os.setgroups(list(groups))
        os.setresgid(group, group, 0)
        os.setresuid(user, user, 0)
        return readable(function(*arguments))
    except OSError as error:
        return "raised " + error_name(error)
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(own_groups)
        os.fchdir(directory)
        os.close(directory)
        os.umask(mask)


def together(count, function):
    """Returns the values of `count` processes that start at the same moment."""
    reader, writer = os.pipe()

    def wait_and_run(number):
        os.close(writer)
        os.read(reader, 1)
        return function(number)
    children = [Child(wait_and_run, number) for number in range(count)]
    os.close(writer)
    os.close(reader)
    return [child.result() for child in children]
