"""Directory listings: large directories that change meanwhile, telldir and seekdir, removed directories."""
import ctypes
import os
import random

from posix_check import call, check, got, in_child, names, put, value

libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = libc.fdopendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.telldir.restype = ctypes.c_long
libc.telldir.argtypes = libc.rewinddir.argtypes = libc.closedir.argtypes = libc.readdir.argtypes = [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]


class Stream:
    """A DIR stream of the C library."""

    def __init__(self, path="."):
        self.handle = libc.opendir(os.fsencode(path))

    def read(self):
        """Returns (name, type), or None at the end."""
        record = libc.readdir(self.handle)
        if not record:
            return None
        return ctypes.string_at(record + 19), ctypes.c_ubyte.from_address(record + 18).value

    def rest(self):
        found = []
        while record := self.read():
            found.append(record[0])
        return found

    def tell(self):
        return libc.telldir(self.handle)

    def seek(self, place):
        libc.seekdir(self.handle, place)

    def rewind(self):
        libc.rewinddir(self.handle)

    def close(self):
        libc.closedir(self.handle)


def fill(count, prefix="f"):
    for number in range(count):
        os.close(os.open(f"{prefix}{number}", os.O_CREAT | os.O_WRONLY))


@check
def listing_types():
    put("file")
    os.mkdir("d")
    os.symlink("x", "l")
    os.mkfifo("p")
    os.mknod("s", 0o140644)
    stream, found = Stream(), {}
    while record := stream.read():
        found[record[0].decode()] = record[1]
    stream.close()
    scanned = [[entry.name, entry.is_dir(), entry.is_symlink(), entry.inode() == os.lstat(entry.name).st_ino]
               for entry in sorted(os.scandir("."), key=lambda entry: entry.name)]
    return [found, scanned]


@check
def listing_dots_have_their_inodes():
    os.makedirs("a/b")
    result = []
    for path in ("a", "a/b", "."):
        stream = Stream(path)
        while record := libc.readdir(stream.handle):
            name = ctypes.string_at(record + 19)
            if name in (b".", b".."):
                inode = ctypes.c_uint64.from_address(record).value
                result.append([path, name.decode(), inode == os.stat(os.path.join(path, name.decode())).st_ino])
        stream.close()
    return sorted(result)


@check
def listing_of_ten_thousand_while_it_changes():
    """Entries that stay are listed exactly once, whatever is added or removed meanwhile."""
    fill(10000)
    stream, seen, chance = Stream(), [], random.Random(1)
    stays = {f"f{number}".encode() for number in range(0, 10000, 2)}
    number = 0
    while record := stream.read():
        seen.append(record[0])
        number += 1
        if number % 3 == 0 and (victim := chance.randrange(1, 10000, 2)) and os.path.exists(f"f{victim}"):
            os.unlink(f"f{victim}")
        if number % 5 == 0:
            os.close(os.open(f"new{number}", os.O_CREAT | os.O_WRONLY))
        if number % 50 == 0 and os.path.exists(f"new{number}"):
            os.rename(f"new{number}", f"renamed{number}")
    stream.close()
    counted = [name for name in seen if name in stays]
    return [len(counted), len(set(counted)), len(seen) == len(set(seen)), len(names()) > 5000]


@check
def listing_with_telldir_and_seekdir():
    """A position stays valid when other entries are removed, and the same entries follow it."""
    fill(10000)
    stream, places, order = Stream(), [], []
    while True:
        places.append(stream.tell())
        record = stream.read()
        if not record:
            break
        order.append(record[0])
    result = [len(order), len(set(order)), len(set(places)) == len(places)]
    chance = random.Random(2)
    for _ in range(30):
        at = chance.randrange(len(order))
        stream.seek(places[at])
        result.append(stream.read()[0] == order[at])
    gone = set(order[1000:2000]) - {b".", b".."}
    for name in gone:
        os.unlink(name)
    fill(500, "later")
    for at in (0, 999, 2000, 5000, len(order) - 1):
        stream.seek(places[at])
        rest = [name for name in stream.rest() if not name.startswith(b"later")]
        result.append(rest == [name for name in order[at:] if name not in gone])
    stream.seek(places[-1])
    result.append(stream.read() is None or True)
    stream.rewind()
    result.append(len(set(stream.rest())) == len(order) - len(gone) + 500)
    stream.close()
    return result


@check
def listing_two_streams_at_once():
    fill(3000)
    first, second = Stream(), Stream()
    for _ in range(1000):
        first.read()
    os.unlink("f1")
    fill(10, "new")
    complete = set(second.rest())
    rest = first.rest()
    first.rewind()
    again = set(first.rest())
    return [b"f1" in complete, sum(name.startswith(b"new") for name in complete), len(rest) == len(set(rest)),
            len(again), b"new3" in again]


@check
def listing_rewound_shows_what_is_new():
    fill(100)
    stream = Stream()
    result = [len(stream.rest())]
    for number in range(5):
        put(f"new{number}")
        os.unlink(f"f{number}")
        stream.rewind()
        rest = stream.rest()
        result.append([len(rest), f"new{number}".encode() in rest, f"f{number}".encode() in rest])
    descriptor = os.open(".", os.O_RDONLY)
    result.append(len(os.listdir(descriptor)))
    put("last")
    result.append(len(os.listdir(descriptor)))
    return result


@check
def listing_after_each_change():
    result = []
    for action in (lambda: put("a"), lambda: os.mkdir("b"), lambda: os.rename("a", "c"), lambda: os.link("c", "d"),
                   lambda: os.unlink("c"), lambda: os.symlink("x", "e"), lambda: os.rename("d", "e"), lambda: os.rmdir("b")):
        action()
        result.append(names())
    return result


@check
def listing_by_several_processes_while_it_changes():
    fill(2000)

    def churn():
        for number in range(1000):
            put(f"x{number % 50}")
            os.unlink(f"x{number % 50}")
        return True
    child = os.fork()
    if child == 0:
        os._exit(0 if churn() else 1)
    complete = []
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        found = [name for name in os.listdir(".") if name.startswith("f")]
        complete.append(len(found) == 2000 and len(set(found)) == 2000)
    return [all(complete), len(names())]


@check
def listing_ends_though_each_entry_is_renamed():
    """A reader ends although entries are added behind its position."""
    fill(3000)
    stream, count = Stream(), 0
    while (record := stream.read()) and count < 100_000:
        if record[0] not in (b".", b".."):
            count += 1
            os.rename(record[0], b"again%d" % count)
    stream.close()
    return [3000 <= count < 100_000, len(names())]


@check
def listing_of_a_removed_directory():
    os.mkdir("d")
    put("d/f")
    stream, descriptor = Stream("d"), os.open("d", os.O_RDONLY)
    os.unlink("d/f")
    os.rmdir("d")
    status = os.fstat(descriptor)
    result = [status.st_nlink, oct(status.st_mode), value(os.listdir, descriptor), stream.read() is None]
    stream.close()
    result += [got(os.stat, "x", dir_fd=descriptor), got(os.open, "x", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor),
               got(os.mkdir, "x", dir_fd=descriptor), got(os.open, ".", os.O_RDONLY, dir_fd=descriptor),
               got(os.fsync, descriptor), got(os.mkdir, "d"), got(os.listdir, "d"), value(os.listdir, descriptor)]
    return result


@check
def removed_working_directory():
    os.mkdir("d")
    os.chdir("d")
    os.rmdir("../d")
    result = [got(os.getcwd), value(os.listdir, "."), got(os.stat, "."), got(os.stat, ".."), got(os.mkdir, "x"),
              got(os.open, "x", os.O_CREAT | os.O_WRONLY), got(os.symlink, "x", "y"), got(os.rmdir, "."), got(os.chdir, "."),
              got(os.open, ".", os.O_RDONLY), got(os.stat, "none"), got(os.mkfifo, "p"), got(os.unlink, "none")]
    result += [os.stat(".").st_nlink if got(os.stat, ".") == "ok" else "?", got(os.chdir, ".."), names()]
    return result


@check
def removed_directory_attributes():
    os.mkdir("d")
    os.setxattr("d", "user.a", b"1")
    descriptor = os.open("d", os.O_RDONLY)
    os.rmdir("d")
    return [got(os.fstat, descriptor), got(os.fstatvfs, descriptor), got(os.listxattr, descriptor),
            got(os.access, f"/proc/self/fd/{descriptor}", os.R_OK)]


@check
def removed_directory_changes():
    os.mkdir("d")
    descriptor = os.open("d", os.O_RDONLY)
    os.rmdir("d")
    return [got(os.fchmod, descriptor, 0o700), got(os.utime, descriptor, (1, 2)), got(os.setxattr, descriptor, "user.a", b"1")]


@check
def removed_directory_tree_from_below():
    os.makedirs("a/b/c")
    os.chdir("a/b/c")
    for path in ("../../../a/b/c", "../../b", "../../../a"):
        got(os.rmdir, path)
    return in_child(lambda: [got(os.stat, "."), got(os.stat, ".."), got(os.stat, "../.."), got(os.chdir, "..")])


@check
def getdents_with_small_buffers():
    fill(300)
    descriptor = os.open(".", os.O_RDONLY)
    result, counts = [], 0
    for size in (0, 10, 24, 64, 300, 4096):
        os.lseek(descriptor, 0, os.SEEK_SET)
        buffer, found = ctypes.create_string_buffer(max(size, 1)), 0
        while True:
            try:
                used = call("syscall", 217, descriptor, buffer, size)
            except OSError as error:
                result.append([size, error.errno])
                break
            if used == 0:
                result.append([size, found])
                break
            at = 0
            while at < used:
                at += int.from_bytes(buffer.raw[at + 16:at + 18], "little")
                found += 1
    return result


@check
def directory_as_a_file():
    os.mkdir("d")
    descriptor = os.open("d", os.O_RDONLY)
    return [got(os.read, descriptor, 1), got(os.pread, descriptor, 1, 0), got(os.write, descriptor, b"x"),
            got(os.ftruncate, descriptor, 0), got(os.lseek, descriptor, -1, os.SEEK_SET), got(os.fsync, descriptor),
            got(os.fdatasync, descriptor), got(os.open, "d", os.O_WRONLY), got(os.open, "d", os.O_RDWR)]
