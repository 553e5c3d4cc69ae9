"""atime under relatime, times that programs set, and how exactly they are kept."""
import ctypes
import mmap
import os

from posix_check import ALICE, BOB, as_user, call, check, content, got, put, tick, value
from posix_times import NOW, OMIT, effect, stamps


def set_times(path, access, modification, flags=0):
    """Calls utimensat(2). Each time is a pair of seconds and nanoseconds."""
    times = (ctypes.c_long * 4)(*access, *modification)
    return call("utimensat", -100, os.fsencode(path), times, flags)


def read_whole(path):
    assert content(path)


def read_mapped(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
        assert bytes(memory[:1])


def read_direct(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    assert os.readv(descriptor, [mmap.mmap(-1, 4096)])
    os.close(descriptor)


def read_nothing(path):
    with open(path, "rb", buffering=0) as file:
        file.read(0)


def read_unseen(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_NOATIME)
    assert os.read(descriptor, 10)
    os.close(descriptor)


def read_spliced(path):
    reader, writer = os.pipe()
    with open(path, "rb") as file:
        assert os.splice(file.fileno(), writer, 100)
    os.close(reader)
    os.close(writer)


def read_copied(path):
    put("target")
    with open(path, "rb") as file, open("target", "wb") as target:
        assert os.copy_file_range(file.fileno(), target.fileno(), 10)


READS = {
    "read": read_whole, "read_mapped": read_mapped, "read_direct": read_direct, "read_nothing": read_nothing,
    "read_unseen": read_unseen, "read_spliced": read_spliced, "read_copied": read_copied,
    "stat": os.stat, "readlink": os.readlink, "list": os.listdir, "execute": lambda path: os.system(path),
}


def atime_cases(path, read):
    """Returns the effect of a read for an atime before, at or after the other times, an hour or a day ago."""
    result = {}
    day = 86400
    base = int(os.stat(".").st_mtime) - 100
    for name, access, modification in (
            ("older_than_mtime", base - 50, base), ("equal", base, base), ("newer", base, base - 50),
            ("a_day_old", base - day - 50, base - 2 * day), ("old_but_newer", base - day + 3600, base - 9 * day)):
        set_times(path, (access, 0), (modification, 0), 0x100)
        tick()
        first = effect(lambda: read(path), path)
        second = effect(lambda: read(path), path)
        result[name] = [first, second]
    return result


def add(name, path_kind, read):
    def function():
        if path_kind == "link":
            os.symlink("target", "x")
        elif path_kind == "directory":
            os.mkdir("x")
            put("x/entry")
        else:
            put("x", open("/bin/true", "rb").read() if name == "execute" else b"content" * 100000, 0o755)
        return atime_cases("./x", read)
    function.__name__ = "atime_after_" + name
    check(function)


for read_name, read_function in READS.items():
    add(read_name, {"readlink": "link", "list": "directory"}.get(read_name, "file"), read_function)


@check
def atime_after_read_of_a_small_file():
    put("x", b"content")
    return atime_cases("./x", read_whole)


@check
def atime_of_what_was_just_written():
    """A write makes the next read update atime."""
    put("x", b"content")
    result = [effect(lambda: content("x"), "x")]
    result.append(effect(lambda: put("x", b"changed"), "x"))
    result.append(effect(lambda: content("x"), "x"))
    result.append(effect(lambda: content("x"), "x"))
    with open("x", "wb", buffering=0) as writer, open("x", "rb", buffering=0) as reader:
        for _ in range(3):
            result.append(effect(lambda: writer.write(b"y"), "x"))
            result.append(effect(lambda: reader.seek(0) or reader.read(3), "x"))
    return result


@check
def atime_of_what_a_reader_has_written():
    put("x", b"content")
    result = []
    with open("x", "r+b", buffering=0) as writer, open("x", "rb", buffering=0) as reader:
        for _ in range(3):
            result.append(effect(lambda: writer.write(b"y"), "x"))
            result.append(effect(lambda: reader.seek(0) or reader.read(3), "x"))
    return result


TIMES = [
    (0, 0), (1, 1), (1_000_000_000, 999_999_999), (1_700_000_000, 123_456_789), (-1, 0), (-1, 500_000_000),
    (-86400 * 365 * 10, 7), (2**31 - 1, 999_999_999), (2**31, 0), (2**32, 5), (2**33, 9), (15_032_385_535, 999_999_999),
    (15_032_385_536, 0), (2**40, 3), (-2**31, 0), (-2**31 - 1, 5), (-2**33, 1), (2**62, 1), (-2**62, 1),
]


@check
def times_set_far_and_fine():
    put("f")
    os.mkdir("d")
    os.symlink("f", "l")
    result = []
    for moment in TIMES:
        for path in ("f", "d", "l"):
            outcome = got(set_times, path, moment, (moment[0], moment[1] // 2), 0x100)
            result.append([path, list(moment), outcome, list(stamps(path)[:2])])
    return result


@check
def times_now_and_omit():
    put("f")
    result = []
    for access, modification in (
            ((0, NOW), (0, OMIT)), ((0, OMIT), (0, NOW)), ((0, NOW), (0, NOW)), ((0, OMIT), (0, OMIT)),
            ((5, 7), (0, OMIT)), ((0, OMIT), (5, 7)), ((5, 7), (0, NOW)), ((0, NOW), (5, 7))):
        set_times("f", (1000, 1), (2000, 2))
        result.append([effect(lambda: set_times("f", access, modification), "f"),
                       [time if time < 10**13 else "now" for time in stamps("f")[:2]]])
    for access in ((1, 10**9), (1, -1), (1, NOW + 2)):
        result.append(got(set_times, "f", access, (1, 1)))
    descriptor = os.open("f", os.O_RDONLY)
    os.utime(descriptor, ns=(3_000_000_001, 4_000_000_002))
    result.append(list(stamps("f")[:2]))
    path_only = os.open("f", os.O_PATH)
    result.append([got(os.utime, path_only, (1, 1)), got(os.utime, f"/proc/self/fd/{path_only}", ns=(5, 6))])
    result.append(list(stamps("f")[:2]))
    return result


@check(root=True)
def times_set_by_others():
    """Setting the current time needs write permission, and setting another time needs ownership."""
    os.chmod(".", 0o777)
    result = []
    for bits in (0o600, 0o666, 0o444):
        put("f", mode=bits)
        os.chown("f", ALICE, ALICE)
        for user in (ALICE, BOB):
            result.append([bits, user, as_user(user, lambda: [
                got(set_times, "f", access, modification) for access, modification in (
                    ((0, NOW), (0, NOW)), ((0, NOW), (0, OMIT)), ((0, OMIT), (0, OMIT)), ((5, 0), (0, NOW)), ((5, 0), (6, 0)))])])
        os.unlink("f")
    return result


@check
def times_are_seen_by_every_descriptor():
    put("f", b"content")
    reader, writer, other = os.open("f", os.O_RDONLY), os.open("f", os.O_RDWR), os.open("f", os.O_PATH)
    result = []
    for action in (lambda: os.write(writer, b"x"), lambda: os.fchmod(reader, 0o600), lambda: os.utime("f", ns=(7, 8)),
                   lambda: os.ftruncate(writer, 2), lambda: os.link("f", "g"), lambda: os.unlink("g")):
        tick()
        action()
        seen = [os.fstat(item) for item in (reader, writer, other)] + [os.stat("f"), os.lstat("f")]
        result.append(len({(s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_mode, s.st_nlink) for s in seen}))
    return result


@check
def times_of_a_new_file_lie_together():
    tick()
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY))
    os.mkdir("d")
    status, directory = os.stat("f"), os.stat(".")
    return [status.st_mtime_ns == status.st_ctime_ns, status.st_atime_ns == status.st_mtime_ns,
            directory.st_mtime_ns == directory.st_ctime_ns, abs(directory.st_mtime_ns - status.st_mtime_ns) < 10**9]


@check
def times_after_a_mapping_was_written():
    """The times change by the end of msync, also for a second write."""
    put("f", b"content" * 1000)
    result = []
    with open("f", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        for at in (0, 5000, 1):
            def change():
                memory[at] = 66
                memory.flush()
            # POSIX does not say when a reference updates atime.
            result.append(effect(change, "f")[1].replace("a", ""))
    return result + [value(lambda: content("f")[:2].decode())]
