"""Data protection on a mount: every class in every state, every call, by root and by an ordinary user.

    protection.py MOUNT

Each actor is a process with a folder of one class. While the device is unlocked, it makes its files, opens and maps some of
them, and fills the page cache. Then the device changes its state, and the actor makes every call. GOLDEN has the expected
outcomes. Prints each difference, and at the end the number of calls.
"""
import ctypes
import errno
import json
import mmap
import os
import socket
import subprocess
import sys

PAGE = 4096
LARGE = 1 << 20
CLASSES = ["complete", "completeUnlessOpen", "completeUntilFirstUserAuthentication", "completeWhenUserInactive", "none"]
USERS = [0, 12345]
STATES = ["unlocked", "locking", "locked", "inactive", "beforeFirstUnlock"]

# Whether a file can be opened, created, and used through an open descriptor.
YES, NO = True, False
GOLDEN = {
    ("complete", "unlocked"): (YES, YES, YES),
    ("complete", "locking"): (YES, YES, YES),
    ("complete", "locked"): (NO, NO, NO),
    ("complete", "inactive"): (NO, NO, NO),
    ("complete", "beforeFirstUnlock"): (NO, NO, NO),
    ("completeUnlessOpen", "unlocked"): (YES, YES, YES),
    ("completeUnlessOpen", "locking"): (YES, YES, YES),
    ("completeUnlessOpen", "locked"): (NO, YES, YES),
    ("completeUnlessOpen", "inactive"): (NO, YES, YES),
    ("completeUnlessOpen", "beforeFirstUnlock"): (NO, YES, YES),
    ("completeUntilFirstUserAuthentication", "unlocked"): (YES, YES, YES),
    ("completeUntilFirstUserAuthentication", "locking"): (YES, YES, YES),
    ("completeUntilFirstUserAuthentication", "locked"): (YES, YES, YES),
    ("completeUntilFirstUserAuthentication", "inactive"): (YES, YES, YES),
    ("completeUntilFirstUserAuthentication", "beforeFirstUnlock"): (NO, NO, NO),
    ("completeWhenUserInactive", "unlocked"): (YES, YES, YES),
    ("completeWhenUserInactive", "locking"): (YES, YES, YES),
    ("completeWhenUserInactive", "locked"): (YES, YES, YES),
    ("completeWhenUserInactive", "inactive"): (NO, NO, NO),
    ("completeWhenUserInactive", "beforeFirstUnlock"): (NO, NO, NO),
    ("none", "unlocked"): (YES, YES, YES),
    ("none", "locking"): (YES, YES, YES),
    ("none", "locked"): (YES, YES, YES),
    ("none", "inactive"): (YES, YES, YES),
    ("none", "beforeFirstUnlock"): (YES, YES, YES),
}
KINDS = {"open": 0, "create": 1, "use": 2, "map": 2, "fault": 2, "passed": 2}
# The outcome of a refused call of each kind. mmap(2) is never refused, but an access to the mapping is: SIGBUS, or EIO if the
# kernel itself makes the access.
REFUSAL = {"open": "EPERM", "create": "EPERM", "use": "EPERM", "passed": "EPERM", "map": "EIO", "fault": "SIGBUS"}

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


def expected(kind, cls, state):
    if kind == "meta":
        return "ok"
    # Reads that the kernel passes through to the store cannot be revoked. Only a reboot finds such descriptors; a lock does
    # not.
    if kind == "passed" and (cls, state) == ("completeUntilFirstUserAuthentication", "beforeFirstUnlock"):
        return "ok"
    return "ok" if GOLDEN[cls, state][KINDS[kind]] else REFUSAL[kind]


def outcome(call):
    try:
        call()
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
    except AssertionError as error:
        return f"wrong: {error}"


def fallocate(fd, mode, offset, length):
    if libc.fallocate(fd, mode, offset, length) != 0:
        raise OSError(ctypes.get_errno(), "fallocate")


def mapped(fd, length, protection, flags):
    address = libc.mmap(None, length, protection, flags, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    return address


def named(fd, path):
    if libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, path.encode(), 0x400) != 0:
        raise OSError(ctypes.get_errno(), "linkat")


def load(address, count=1):
    """Reads memory through this process's own page tables, with EIO instead of SIGBUS."""
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(count)


def store(address, byte):
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        memory.write(byte)


def check(condition, what):
    assert condition, what


def faulting(address, byte=None):
    """Returns the signal that ends a process on this access."""
    child = os.fork()
    if child == 0:
        if byte is None:
            ctypes.string_at(address, 1)
        else:
            ctypes.memset(address, byte, 1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "SIGBUS" if os.WTERMSIG(status) == 7 else f"signal {os.WTERMSIG(status)}"
    return "ok" if os.WEXITSTATUS(status) == 0 else "exit"


class Actor:
    def __init__(self, folder, free):
        self.folder = folder
        self.free = free

    def at(self, name):
        return os.path.join(self.folder, name)

    def fill(self, name, size, fill=b"s"):
        with open(self.at(name), "wb") as file:
            file.write(fill * size)
        return self.at(name)

    def prepare(self):
        for name in ["small", "other", "victim", "gone", "moved", "over", "nameless", "trunc", "direct", "toggled", "w", "cut"]:
            self.fill(name, 3 * PAGE)
        self.fill("large", LARGE, b"l")
        self.fill("program", 0)
        with open("/bin/true", "rb") as source, open(self.at("program"), "wb") as target:
            target.write(source.read())
        os.chmod(self.at("program"), 0o755)
        os.link(self.at("small"), self.at("hard"))
        os.symlink("small", self.at("link"))
        os.mkdir(self.at("empty"))
        with open(os.path.join(self.free, "source"), "wb") as file:
            file.write(b"f" * 3 * PAGE)
        self.free_source = os.open(os.path.join(self.free, "source"), os.O_RDONLY)
        self.free_target = os.open(os.path.join(self.free, "target"), os.O_RDWR | os.O_CREAT, 0o644)

        self.passed = os.open(self.at("large"), os.O_RDONLY)
        os.pread(self.passed, LARGE, 0)
        self.reader = os.open(self.at("small"), os.O_RDONLY)
        self.mapper = os.open(self.at("small"), os.O_RDWR)
        self.writer = os.open(self.at("w"), os.O_RDWR)
        self.appender = os.open(self.at("w"), os.O_WRONLY | os.O_APPEND)
        self.nameless = os.open(self.at("nameless"), os.O_RDWR)
        os.unlink(self.at("nameless"))
        self.temporary = os.open(self.folder, os.O_RDWR | os.O_TMPFILE, 0o600)
        os.write(self.temporary, b"t" * PAGE)
        self.direct = os.open(self.at("direct"), os.O_RDONLY | os.O_DIRECT)
        self.path = os.open(self.at("small"), os.O_PATH)
        for fd in [self.reader, self.writer, self.nameless, self.temporary]:
            os.pread(fd, 3 * PAGE, 0)
        read, write = mmap.PROT_READ, mmap.PROT_WRITE
        self.shared = mapped(self.reader, 3 * PAGE, read, mmap.MAP_SHARED)
        self.private = mapped(self.reader, 3 * PAGE, read, mmap.MAP_PRIVATE)
        self.written = mapped(self.mapper, 3 * PAGE, read | write, mmap.MAP_SHARED)
        self.orphan = mapped(self.nameless, 3 * PAGE, read | write, mmap.MAP_SHARED)
        for address in [self.shared, self.private, self.orphan]:
            check(ctypes.string_at(address, 3 * PAGE) == b"s" * 3 * PAGE, "pages before")
        # Stored but not written back yet. The lock must not lose it.
        ctypes.memset(self.written + PAGE, ord("m"), PAGE)
        ctypes.memset(self.orphan + PAGE, ord("m"), PAGE)

    def opened(self, name, flags):
        return lambda: os.close(os.open(self.at(name), flags, 0o644))

    def created(self, name, flags):
        def call():
            fd = os.open(self.at(name), flags, 0o644)
            try:
                os.write(fd, b"n" * PAGE)
                check(os.pread(fd, PAGE, 0) == b"n" * PAGE, "what was written")
            finally:
                os.close(fd)
        return call

    def tmpfile(self):
        fd = os.open(self.folder, os.O_RDWR | os.O_TMPFILE, 0o600)
        os.write(fd, b"n")
        os.close(fd)

    def spliced(self):
        pipe = os.pipe()
        try:
            check(os.splice(self.reader, pipe[1], PAGE, offset_src=0) > 0, "spliced")
        finally:
            for end in pipe:
                os.close(end)

    def read_all(self, fd, fill):
        return lambda: check(os.pread(fd, 2 * PAGE, 0)[:PAGE] == fill * PAGE, "content")

    def calls(self):
        yield from self.reads()
        yield from self.accesses()
        yield from self.writes()
        yield from self.opens()
        yield from self.creates()
        yield from self.looks()
        yield from self.changes()

    def reads(self):
        buffer = mmap.mmap(-1, PAGE)
        ends = socket.socketpair()
        out = ends[0].fileno()
        yield "use", "read", lambda: check(os.read(self.reader, 100) == b"s" * 100, "content")
        yield "use", "pread", self.read_all(self.reader, b"s")
        yield "use", "preadv", lambda: os.preadv(self.reader, [bytearray(10), bytearray(10)], PAGE)
        yield "use", "a large read", lambda: os.pread(self.writer, LARGE, 0)
        yield "use", "a direct read", lambda: check(os.preadv(self.direct, [buffer], 0) == PAGE, "direct")
        yield "use", "read without a name", self.read_all(self.nameless, b"s")
        yield "use", "read of a temporary file", lambda: check(os.pread(self.temporary, 1, 0) == b"t", "content")
        yield "use", "sendfile from", lambda: check(os.sendfile(out, self.reader, 0, PAGE) == PAGE, "sent")
        yield "use", "splice from", self.spliced
        yield "use", "readahead", lambda: (os.posix_fadvise(self.reader, 0, 0, os.POSIX_FADV_WILLNEED),
                                           os.pread(self.reader, 1, 2 * PAGE))
        yield "use", "copy from", lambda: os.copy_file_range(self.reader, self.free_target, PAGE, 0, 0)
        yield "passed", "read of a large file", self.read_all(self.passed, b"l")
        yield "passed", "sendfile of a large file", lambda: os.sendfile(out, self.passed, PAGE, PAGE)

    def accesses(self):
        yield "map", "load through a shared mapping", lambda: check(load(self.shared) == b"s", "content")
        yield "map", "load through a private mapping", lambda: check(load(self.private, 9) == b"s" * 9, "content")
        yield "map", "load of what was stored", lambda: check(load(self.written + PAGE) == b"m", "content")
        yield "map", "load without a name", lambda: check(load(self.orphan + PAGE) == b"m", "content")
        yield "map", "load through a new mapping", lambda: load(
            mapped(self.reader, PAGE, mmap.PROT_READ, mmap.MAP_SHARED))
        yield "map", "store through a mapping", lambda: store(self.written, b"x")
        yield "map", "store without a name", lambda: store(self.orphan, b"x")
        yield "fault", "a load", lambda: faulting(self.shared)
        yield "fault", "a store", lambda: faulting(self.written + 2 * PAGE, ord("y"))

    def writes(self):
        yield "use", "write", lambda: os.write(self.writer, b"x")
        yield "use", "pwrite", lambda: os.pwrite(self.writer, b"x" * PAGE, PAGE)
        yield "use", "pwrite of half a page", lambda: os.pwrite(self.writer, b"x" * 100, 2 * PAGE + 7)
        yield "use", "append", lambda: os.write(self.appender, b"x")
        yield "use", "write without a name", lambda: os.pwrite(self.nameless, b"x", 0)
        yield "use", "sendfile to", lambda: os.sendfile(self.writer, self.free_source, 0, PAGE)
        yield "use", "copy to", lambda: os.copy_file_range(self.free_source, self.writer, PAGE, 0, 0)
        yield "use", "ftruncate", lambda: os.ftruncate(self.writer, PAGE)
        yield "use", "ftruncate that grows", lambda: os.ftruncate(self.writer, 9 * PAGE)
        yield "use", "fallocate", lambda: fallocate(self.writer, 0, 0, 2 * PAGE)
        yield "use", "fallocate past the end", lambda: fallocate(self.writer, 1, 9 * PAGE, PAGE)
        yield "use", "punch", lambda: fallocate(self.writer, 3, 0, PAGE)
        yield "use", "zero range", lambda: fallocate(self.writer, 16, 0, PAGE)

    def opens(self):
        yield "open", "open for reading", self.opened("small", os.O_RDONLY)
        yield "open", "open for writing", self.opened("small", os.O_WRONLY)
        yield "open", "open for both", self.opened("small", os.O_RDWR)
        yield "open", "open a large file", self.opened("large", os.O_RDONLY)
        yield "open", "open direct", self.opened("small", os.O_RDONLY | os.O_DIRECT)
        yield "open", "open by another name", self.opened("hard", os.O_RDONLY)
        yield "open", "open through a link", self.opened("link", os.O_RDONLY)
        yield "open", "open of what O_PATH found", self.opened(f"/proc/self/fd/{self.path}", os.O_RDONLY)
        yield "open", "open of what is open", self.opened(f"/proc/self/fd/{self.nameless}", os.O_RDONLY)
        yield "open", "open with O_CREAT", self.opened("small", os.O_RDWR | os.O_CREAT)
        yield "open", "open with O_TRUNC", self.opened("trunc", os.O_WRONLY | os.O_TRUNC)
        yield "open", "open with O_CREAT and O_TRUNC", self.opened("trunc", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        yield "open", "truncate", lambda: os.truncate(self.at("cut"), PAGE)
        # In a child, so that this process's descriptors stay open.
        yield "open", "exec", lambda: subprocess.run([self.at("program")], check=True)

    def creates(self):
        yield "create", "create", self.created("new1", os.O_RDWR | os.O_CREAT | os.O_EXCL)
        yield "create", "create with O_TRUNC", self.created("new2", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        yield "create", "mknod", lambda: os.mknod(self.at("new3"))
        yield "create", "mknod with S_IFREG", lambda: os.mknod(self.at("new4"), 0o100644)
        yield "create", "O_TMPFILE", self.tmpfile

    def looks(self):
        at = self.at
        yield "meta", "stat", lambda: check(os.stat(at("small")).st_size == 3 * PAGE, "size")
        yield "meta", "fstat", lambda: check(os.fstat(self.reader).st_size == 3 * PAGE, "size")
        yield "meta", "fstat by O_PATH", lambda: os.fstat(self.path)
        yield "meta", "readdir", lambda: check("small" in os.listdir(self.folder), "name")
        yield "meta", "scandir", lambda: [entry.stat() for entry in os.scandir(self.folder)]
        yield "meta", "statvfs", lambda: os.statvfs(self.folder)
        yield "meta", "access", lambda: check(os.access(at("small"), os.R_OK | os.W_OK), "access")
        yield "meta", "readlink", lambda: check(os.readlink(at("link")) == "small", "target")
        yield "meta", "lseek", lambda: check(os.lseek(self.reader, 0, os.SEEK_END) == 3 * PAGE, "end")
        yield "meta", "SEEK_HOLE", lambda: check(os.lseek(self.reader, 0, os.SEEK_HOLE) == 3 * PAGE, "hole")
        yield "meta", "fsync", lambda: os.fsync(self.writer)
        yield "meta", "fdatasync", lambda: os.fdatasync(self.writer)

    def changes(self):
        at = self.at
        yield "meta", "chmod", lambda: os.chmod(at("other"), 0o640)
        yield "meta", "utimens", lambda: os.utime(at("other"), (5, 6))
        yield "meta", "setxattr", lambda: os.setxattr(at("other"), "user.x", b"y")
        yield "meta", "getxattr", lambda: check(os.getxattr(at("other"), "user.x") == b"y", "value")
        yield "meta", "a mark", lambda: os.setxattr(at("other"), "user.purgefs.isPurgeable", b"high")
        yield "meta", "listxattr", lambda: check("user.x" in os.listxattr(at("other")), "name")
        yield "meta", "removexattr", lambda: os.removexattr(at("other"), "user.x")
        yield "meta", "mkdir", lambda: os.mkdir(at("folder"))
        yield "meta", "rmdir", lambda: os.rmdir(at("empty"))
        yield "meta", "symlink", lambda: os.symlink("nowhere", at("newlink"))
        yield "meta", "mkfifo", lambda: os.mkfifo(at("fifo"))
        yield "meta", "link", lambda: os.link(at("other"), at("newname"))
        yield "meta", "a name for a temporary file", lambda: named(self.temporary, at("named"))
        yield "meta", "rename", lambda: os.rename(at("moved"), at("was moved"))
        yield "meta", "rename over", lambda: os.rename(at("over"), at("victim"))
        yield "meta", "unlink", lambda: os.unlink(at("gone"))
        yield "meta", "close", lambda: os.close(self.appender)

    def run(self):
        found = {}
        for kind, name, call in self.calls():
            if kind == "fault":
                found[name] = (kind, call())
            else:
                found[name] = (kind, outcome(call))
        return found

    def names(self):
        return sorted(os.listdir(self.folder))

    def verify(self, cls, state):
        """Checks after the unlock that no stored data is lost and no refused call had an effect."""
        admits_open, admits_create, admits_use = GOLDEN[cls, state]
        problems = []

        def expect(what, value, wanted):
            if value != wanted:
                problems.append(f"{what}: {value!r} in place of {wanted!r}")

        with open(self.at("small"), "rb") as file:
            content = file.read()
        expect("what was stored through a mapping", content[PAGE:2 * PAGE], b"m" * PAGE)
        first = b"x" if admits_use else b"s"
        expect("the first byte", content[:1], first)
        expect("a stored byte", content[2 * PAGE:2 * PAGE + 1], b"y" if admits_use else b"s")
        expect("the mapping again", load(self.written + PAGE, 3), b"mmm")
        expect("the mapping without a name", load(self.orphan + PAGE, 3), b"mmm")
        expect("the reader", os.pread(self.reader, 1, PAGE), b"m")
        expect("the temporary file", os.pread(self.temporary, 2, 0), b"tt")
        expect("O_TRUNC", os.stat(self.at("trunc")).st_size, 0 if admits_open else 3 * PAGE)
        expect("truncate", os.stat(self.at("cut")).st_size, PAGE if admits_open else 3 * PAGE)
        made = [name for name in os.listdir(self.folder) if name.startswith("new") and name[3:].isdigit()]
        expect("new files", sorted(made), ["new1", "new2", "new3", "new4"] if admits_create else [])
        if not admits_use:
            with open(self.at("w"), "rb") as file:
                expect("what was not written", file.read(), b"s" * 3 * PAGE)
        with open(self.at("large"), "rb") as file:
            expect("the large file", file.read(), b"l" * LARGE)
        return problems


def act(mount, cls, state, user, ready, go):
    folder = os.path.join(mount, "Documents", f"{cls}-{state}-{user}")
    free = folder + "-free"
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, or /proc/self/mem would not belong to the process
    os.setxattr(folder, "user.purgefs.fileProtection", cls.encode())
    os.setxattr(free, "user.purgefs.fileProtection", b"none")
    actor = Actor(folder, free)
    actor.prepare()
    ready.write("ready\n")
    ready.flush()
    assert go.readline() == "locked\n"
    ready.write(json.dumps(actor.run()) + "\n")
    ready.flush()
    assert go.readline() == "unlocked\n"
    ready.write(json.dumps(actor.verify(cls, state)) + "\n")
    ready.flush()


class Child:
    def __init__(self, mount, cls, state, user):
        self.what = f"{cls}, {state}, {'root' if user == 0 else 'user'}"
        self.key = (cls, state)
        from_child, to_parent = os.pipe()
        from_parent, to_child = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(from_child)
            os.close(to_child)
            try:
                act(mount, cls, state, user, os.fdopen(to_parent, "w"), os.fdopen(from_parent))
                os._exit(0)
            except BaseException as error:
                sys.stderr.write(f"{self.what}: {type(error).__name__} {error}\n")
                os._exit(1)
        os.close(to_parent)
        os.close(from_parent)
        self.input, self.output = os.fdopen(from_child), os.fdopen(to_child, "w")

    def tell(self, text):
        self.output.write(text + "\n")
        self.output.flush()

    def hear(self):
        return self.input.readline()


def control(mount, name, text=None):
    path = os.path.join(mount, ".purgefs", name)
    if text is None:
        with open(path) as file:
            return file.read().rstrip("\n")
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def enter(mount, state):
    if state == "beforeFirstUnlock":
        control(mount, "device.state", "reboot")
    elif state != "unlocked":
        control(mount, "device.state", "lock")
        if state != "locking":
            control(mount, "device.clock", "+10s")
        if state == "inactive":  # an hour after the lock
            control(mount, "device.clock", "+1h")
    device = json.loads(control(mount, "status.json"))["device"]
    found = "inactive" if device.get("inactive") else device["state"]
    assert found == state, f"{found}, not {state}"


def make_folders(mount, state):
    for cls in CLASSES:
        for user in USERS:
            folder = os.path.join(mount, "Documents", f"{cls}-{state}-{user}")
            for path in [folder, folder + "-free"]:
                os.mkdir(path)
                os.chown(path, user, user)


def denied(mount):
    return json.loads(control(mount, "status.json"))["counters"]["protectionDenied"]


def ask(children, problems):
    """Returns the number of calls, and the number of those that were refused as expected."""
    calls, refused = 0, 0
    for child in children:
        child.tell("locked")
        found = json.loads(child.hear() or "{}")
        if not found:
            problems.append(f"{child.what}: no answer")
        for name, (kind, result) in found.items():
            calls += 1
            wanted = expected(kind, *child.key)
            refused += wanted != "ok"
            if result != wanted:
                problems.append(f"{child.what}: {name} is {result}, not {wanted}")
    return calls, refused


def round_of(mount, state, problems):
    make_folders(mount, state)
    children = [Child(mount, cls, state, user) for cls in CLASSES for user in USERS]
    for child in children:
        if child.hear() != "ready\n":
            problems.append(f"{child.what}: not ready")
    before = denied(mount)
    enter(mount, state)
    calls, refused = ask(children, problems)
    counted = denied(mount) - before
    if counted < refused or (refused == 0 and counted != 0):
        problems.append(f"{state}: {counted} refusals were counted, {refused} were seen")
    control(mount, "device.state", "unlock")
    for child in children:
        child.tell("unlocked")
        answer = child.hear()
        problems += [f"{child.what}: {problem}" for problem in json.loads(answer or '["no answer"]')]
        if os.waitpid(child.pid, 0)[1] != 0:
            problems.append(f"{child.what}: it failed")
    return calls


def main(mount):
    problems = []
    calls = sum(round_of(mount, state, problems) for state in STATES)
    for problem in problems:
        print(problem)
    print(calls)
    sys.exit(1 if problems else 0)


main(sys.argv[1])
