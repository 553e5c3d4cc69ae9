"""Calls with numbers at the ends of their ranges, on a mount and in a plain directory beside it.

extremes.py MOUNTED PLAIN REPORT [CONTROL]

Each call is made on both sides. The results and the file's size afterwards must agree, or differ in a way that `expected`
allows. CONTROL is the mount's `.purgefs`, if the caller may use it. The report is a JSON object with the members `calls` and
`failures`.
"""
import ctypes
import errno
import itertools
import json
import os
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
I64, SIZE, INT, VOID = ctypes.c_int64, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p
END = (2**32 - 1) * 4096  # the maximum file size, as on ext4
LARGEST = 2**63 - 1
# The plain side would really allocate a length above this.
REAL = 1 << 20
BUFFER = ctypes.create_string_buffer(1 << 17)
ADDRESS = ctypes.addressof(BUFFER)


def offsets():
    found = {-(2**63), -4096, -1, END - 4096, END - 1, END, END + 1}
    for middle in (0, 2**31, 2**32, 2**44, 2**62, 2**63):
        for step in (-4097, -4096, -4095, -1, 0, 1, 4095, 4096):
            if 0 <= middle + step <= LARGEST:
                found.add(middle + step)
    return sorted(found)


OFFSETS = offsets()
LENGTHS = [0, 1, 4096, 2**31 - 1, 2**32, 2**44 - 4096, 2**44, 2**62, LARGEST - 4096, LARGEST]
FEW = [0, 1, 4096, 2**31, 2**44, 2**62, LARGEST - 4096, LARGEST]


def call(name, *arguments, result=I64):
    """Returns the result, or the name of its errno."""
    function = getattr(libc, name)
    function.restype = result
    ctypes.set_errno(0)
    value = function(*arguments)
    if value == -1 or value is None:
        return errno.errorcode.get(ctypes.get_errno(), "?") if ctypes.get_errno() else value
    return value


class Side:
    """One side's files: one of three blocks as the target of the calls, and one beside it as a source."""

    def __init__(self, directory):
        self.directory = directory
        self.path = os.path.join(directory, "f")
        self.make()
        with open(os.path.join(directory, "from"), "wb") as file:
            file.write(b"s" * 20000)
        self.source = os.open(os.path.join(directory, "from"), os.O_RDONLY)
        self.target = os.open(os.path.join(directory, "to"), os.O_RDWR | os.O_CREAT)
        self.folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        self.pipe = os.pipe()

    def make(self):
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        os.pwrite(self.file, b"d" * 10000, 0)

    def reset(self):
        if os.fstat(self.file).st_size != 10000 or os.fstat(self.file).st_blocks != 24:
            os.ftruncate(self.file, 0)
            os.pwrite(self.file, b"d" * 10000, 0)

    def size(self):
        return os.fstat(self.file).st_size


class Sweep:
    def __init__(self, mounted, plain):
        self.sides = [Side(mounted), Side(plain)]
        self.calls = 0
        self.failures = []

    def fail(self, label, what):
        if len(self.failures) < 50:
            self.failures.append(f"{label}: {what}")

    def both(self, label, body, expected=lambda mounted, plain: False):
        outcomes = []
        for side in self.sides:
            side.reset()
            self.calls += 1
            outcomes.append([body(side), side.size()])
        if outcomes[0] != outcomes[1] and not expected(outcomes[0][0], outcomes[1][0]):
            self.fail(label, f"{outcomes[0]} on the mount, {outcomes[1]} beside it")

    def mounted(self, label, body, allowed):
        """Makes a call that is not made on the plain side, where it would fill the disk or lacks the file."""
        side = self.sides[0]
        side.reset()
        self.calls += 1
        outcome = body(side)
        if outcome not in allowed:
            self.fail(label, f"{outcome} is none of {allowed}")

    def data(self):
        for offset in OFFSETS:
            at = I64(offset)
            self.both(f"pread {offset}", lambda s: call("pread64", s.file, BUFFER, SIZE(100), at))
            for length in (1, 100, 4096, 70000):
                self.both(f"pwrite {length} at {offset}",
                          lambda s: call("pwrite64", s.file, BUFFER, SIZE(length), at))
            vector = (VOID * 2)(ADDRESS, 4096)
            for flags in (0, 2, 16):  # none, RWF_DSYNC, RWF_APPEND
                self.both(f"pwritev2 at {offset}, flags {flags}",
                          lambda s: call("pwritev64v2", s.file, vector, INT(1), at, INT(flags)))
            self.both(f"preadv2 at {offset}", lambda s: call("preadv64v2", s.file, vector, INT(1), at, INT(0)))
            self.both(f"ftruncate {offset}", lambda s: call("ftruncate64", s.file, at, result=INT))
            self.both(f"truncate {offset}", lambda s: call("truncate64", s.path.encode(), at, result=INT))
            for whence in (0, 1, 2, 3, 4, 5, 99, -1):
                self.both(f"lseek {offset}, whence {whence}", lambda s: call("lseek64", s.file, at, INT(whence)),
                          # the kernel accepts all offsets on FUSE
                          lambda mounted, plain: whence in (0, 1, 2) and plain == "EINVAL" and mounted > END)

    def allocate(self):
        for mode in (0, 1, 3, 16, 17, 2, 8, 32, 64, 0x7fffffff, -1):
            for offset, length in itertools.product(OFFSETS, LENGTHS + [-1, -(2**63)]):
                body = lambda s: call("fallocate64", s.file, INT(mode), I64(offset), I64(length), result=INT)
                label = f"fallocate {mode}, {length} at {offset}"
                takes = mode in (0, 1, 16, 17) and length > REAL and offset >= 0 and offset + length <= END
                if mode in (8, 32, 64):  # the kernel refuses them on FUSE
                    self.mounted(label, body, ("ENOTSUP", "EINVAL", "EFBIG"))
                elif takes:
                    self.mounted(label, body, ("ENOSPC",))
                else:
                    self.both(label, body)

    def copies(self):
        for at, to, length in itertools.product(FEW + [20000, -1], FEW + [-1], LENGTHS + [2**64 - 1]):
            def body(s):
                start, end = I64(at), I64(to)
                return call("copy_file_range", s.source, ctypes.byref(start), s.file, ctypes.byref(end),
                            SIZE(length), ctypes.c_uint(0))
            self.both(f"copy_file_range {length} from {at} to {to}", body,
                      # without bytes to copy, the kernel does not call FUSE
                      lambda mounted, plain: mounted in (0, "EINVAL") and plain == "EFBIG" and to > END)
        for at, length in itertools.product(OFFSETS, LENGTHS):
            def send(s):
                start = I64(at)
                os.ftruncate(s.target, 0)
                os.lseek(s.target, 0, 0)
                return call("sendfile64", s.target, s.source, ctypes.byref(start), SIZE(length))
            self.both(f"sendfile {length} from {at}", send,
                      lambda mounted, plain: (mounted, plain) == (0, "EOVERFLOW") and at + length > END)
        for at in OFFSETS:
            def into(s):
                start = I64(at)
                os.write(s.pipe[1], b"p" * 100)
                answer = call("splice", s.pipe[0], None, s.file, ctypes.byref(start), SIZE(100), ctypes.c_uint(2))
                os.set_blocking(s.pipe[0], False)
                try:
                    while os.read(s.pipe[0], 4096):
                        pass
                except BlockingIOError:
                    pass
                return answer

            def out(s):
                start = I64(at)
                answer = call("splice", s.source, ctypes.byref(start), s.pipe[1], None, SIZE(100), ctypes.c_uint(2))
                if isinstance(answer, int) and answer > 0:
                    os.read(s.pipe[0], answer)
                return answer
            self.both(f"splice to {at}", into)
            self.both(f"splice from {at}", out)

    def advice(self):
        for offset, length in itertools.product(OFFSETS, LENGTHS):
            for advice in (0, 3, 4):
                self.both(f"posix_fadvise {length} at {offset}",
                          lambda s: call("posix_fadvise64", s.file, I64(offset), I64(length), INT(advice), result=INT))
            self.both(f"sync_file_range {length} at {offset}",
                      lambda s: call("sync_file_range", s.file, I64(offset), I64(length), ctypes.c_uint(7), result=INT))
        for offset, length in itertools.product(OFFSETS, FEW):
            self.both(f"readahead {length} at {offset}",
                      lambda s: call("readahead", s.file, I64(offset), SIZE(length)))

    def mappings(self):
        for offset, length in itertools.product(OFFSETS, (0, 1, 4096, 20000, 2**31, 2**44, 2**62, 2**64 - 1)):
            def body(s):
                address = call("mmap64", None, SIZE(length), INT(3), INT(1), s.file, I64(offset), result=VOID)
                if isinstance(address, str):
                    return address
                if address == 2**64 - 1:
                    return errno.errorcode[ctypes.get_errno()]
                answers = [call("msync", VOID(address + start), SIZE(count), INT(4), result=INT)
                           for start, count in ((0, length), (0, 2**63), (1, 4096), (0, 2**64 - 1))]
                call("munmap", VOID(address), SIZE(length), result=INT)
                return answers
            self.both(f"mmap {length} at {offset}", body)

    def directories(self):
        records = ctypes.create_string_buffer(4096)
        side = self.sides[0]
        for offset, whence in itertools.product(OFFSETS, (0, 1, 2, 3, 4)):
            self.calls += 2
            call("lseek64", side.folder, I64(offset), INT(whence))
            answer = call("getdents64", side.folder, records, SIZE(4096))
            if isinstance(answer, str) and answer not in ("EINVAL",):
                self.fail(f"getdents64 after lseek {offset}, {whence}", answer)

    def times(self):
        seconds = [0, 1, -1, 2**31 - 1, 2**31, 2**32, 2**34, 2**40, 2**53, 2**62, LARGEST, -(2**31), -(2**40), -(2**63),
                   9223372036, 9223372037, -9223372037]
        for second, nano in itertools.product(seconds, (0, 1, 999_999_999, 10**9, -1, 2**30 - 1, 2**30 - 2, LARGEST)):
            def body(s):
                times = (I64 * 4)(second, nano, second, nano)
                answer = call("utimensat", INT(-100), s.path.encode(), times, INT(0), result=INT)
                return [answer, os.stat(s.path).st_mtime_ns if answer == 0 and 0 <= nano < 10**9 else None]
            self.both(f"utimensat {second}.{nano}", body)

    def attributes(self):
        sizes = [0, 1, 60, 100, 255, 256, 4096, 65535, 65536, 65537, 2**31, 2**32, 2**62, LARGEST, 2**64 - 1]
        for side in self.sides:
            os.setxattr(side.path, "user.long", b"v" * 100)
        for size in sizes:
            room = SIZE(size)
            self.both(f"getxattr {size}", lambda s: call("getxattr", s.path.encode(), b"user.long", BUFFER, room))
            self.both(f"listxattr {size}", lambda s: call("listxattr", s.path.encode(), BUFFER, room))
            for flags in (0, 1, 2, 3, -1):
                self.both(f"setxattr {size}, flags {flags}",
                          lambda s: call("setxattr", s.path.encode(), b"user.new", BUFFER, room, INT(flags), result=INT),
                          # ENOSPC would be the simulated device's
                          lambda mounted, plain: (mounted, plain) == ("E2BIG", "ENOSPC"))
                for side in self.sides:
                    call("removexattr", side.path.encode(), b"user.new", result=INT)
            self.mounted(f"getxattr of the device {size}",
                         lambda s: call("getxattr", s.path.encode(), b"user.purgefs.volumeTotalCapacity", BUFFER, room),
                         (8, "ERANGE"))
        folder = self.sides[0].directory.encode()
        for name, text in itertools.product((b"sizeLimit", b"purgeAfter", b"isPurgeable", b"fileProtection",
                                             b"isExcludedFromBackup"), numbers(b"K", b"GB", b"TB", b"s", b"w", b"%")):
            self.mounted(f"{name} {text}",
                         lambda s: call("setxattr", folder, b"user.purgefs." + name, text, SIZE(len(text)), INT(0),
                                        result=INT), (0, "EINVAL", "E2BIG"))
            call("removexattr", folder, b"user.purgefs." + name, result=INT)

    def control(self, control):
        total = os.path.join(control, "storage.total")
        with open(total, "rb") as file:
            first = file.read()
        for name in sorted(os.listdir(control)):
            if name in ("events", "app.process"):  # a number could be that of a process
                continue
            path = os.path.join(control, name)
            mode = os.stat(path).st_mode
            if mode & 0o400:
                file = os.open(path, os.O_RDONLY)
                for offset in OFFSETS:
                    self.calls += 1
                    answer = call("pread64", file, BUFFER, SIZE(4096), I64(offset))
                    if (not 0 <= offset <= LARGEST - 4096) != (answer == "EINVAL"):
                        self.fail(f"pread of {name} at {offset}", answer)
                os.close(file)
            if mode & 0o200:
                file = os.open(path, os.O_WRONLY)
                for text in numbers(b"K", b"TB", b"%"):
                    for written in (text, b"+" + text, b"-" + text, b"low " + text, b"verylow " + text, b"desired=" + text):
                        self.calls += 1
                        offset = OFFSETS[self.calls % len(OFFSETS)]
                        answer = call("pwrite64", file, written, SIZE(len(written)), I64(max(0, min(offset, 2**62))))
                        if answer not in (len(written), "EINVAL", "EAGAIN"):
                            self.fail(f"{written} to {name}", answer)
                        os.statvfs(self.sides[0].directory)
                for length in (0, 1, 4096, 100_000):
                    self.calls += 1
                    answer = call("pwrite64", file, b"9" * length, SIZE(length), I64(0))
                    if answer not in (0, "EINVAL", length if length == 1 else "EINVAL", "EAGAIN"):
                        self.fail(f"{length} digits to {name}", answer)
                os.close(file)
        for name, text in (("storage.total", first), ("storage.others.purgeable", b"0"), ("storage.others", b"0"),
                           ("storage.thresholds", b"off")):
            with open(os.path.join(control, name), "wb", buffering=0) as file:
                file.write(text)


def numbers(*units):
    """Returns strings that are or look like numbers."""
    plain = [b"0", b"-0", b"-1", b"1", b"00000000000000000000000001", b"1e9", b"0x10", b"1.5", b"", b" 1", b"1 ", b"\xff",
             b"1\0", b"9" * 20, b"9" * 300]
    for power in (12, 31, 32, 44, 60, 62, 63, 64):
        plain += [str(2**power + step).encode() for step in (-1, 0, 1)]
    return plain + [number + unit for number in (b"1", b"100", b"101", b"1048576", b"9223372036854775807") for unit in units]


def main():
    mounted, plain, report = sys.argv[1:4]
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sweep = Sweep(mounted, plain)
    sweep.data()
    sweep.allocate()
    sweep.copies()
    sweep.advice()
    sweep.mappings()
    sweep.directories()
    sweep.times()
    sweep.attributes()
    if len(sys.argv) > 4:
        sweep.control(sys.argv[4])
    with open(report, "w") as file:
        json.dump({"calls": sweep.calls, "failures": sweep.failures}, file)


main()
