"""Flags of open(2): O_APPEND, O_EXCL, O_DIRECT, O_SYNC, O_CLOEXEC, O_PATH, and many open files at once."""
import errno
import fcntl
import os
import resource
import stat

from posix_check import call, check, content, got, in_child, mode, names, put, together, value


@check
def append_by_several_writers():
    """When several processes append, no line is lost, torn or duplicated."""
    put("f", b"")

    def write(number):
        descriptor = os.open("f", os.O_WRONLY | os.O_APPEND)
        for count in range(2000):
            os.write(descriptor, b"%d %4d %s\n" % (number, count, b"x" * (count % 60)))
        return True
    together(4, write)
    lines = content("f").splitlines()
    expected = sorted(b"%d %4d %s" % (n, c, b"x" * (c % 60)) for n in range(4) for c in range(2000))
    return [len(lines), sorted(lines) == expected, os.stat("f").st_size == sum(len(line) + 1 for line in expected)]


@check
def append_by_two_writers_of_large_pieces():
    put("f", b"")

    def write(number):
        descriptor = os.open("f", os.O_WRONLY | os.O_APPEND)
        for _ in range(20):
            assert os.write(descriptor, bytes([number + 1]) * 100_001) == 100_001
        return True
    together(2, write)
    data = content("f")
    pieces = [data[at:at + 100_001] for at in range(0, len(data), 100_001)]
    return [len(data), all(len(set(piece)) == 1 for piece in pieces), sum(piece[:1] == b"\x01" for piece in pieces)]


@check
def append_offsets():
    put("f", b"12345")
    descriptor = os.open("f", os.O_RDWR | os.O_APPEND)
    result = [os.lseek(descriptor, 0, os.SEEK_CUR)]
    os.lseek(descriptor, 2, os.SEEK_SET)
    os.write(descriptor, b"ab")
    result += [os.lseek(descriptor, 0, os.SEEK_CUR), content("f")]
    os.pwrite(descriptor, b"XY", 0)
    result += [content("f"), os.read(descriptor, 9)]
    fcntl.fcntl(descriptor, fcntl.F_SETFL, 0)
    os.pwrite(descriptor, b"Z", 0)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    os.write(descriptor, b"!")
    os.ftruncate(descriptor, 3)
    os.write(descriptor, b"?")
    return result + [content("f")]


@check
def append_after_another_truncates():
    put("f", b"x" * 10000)
    appender, other = os.open("f", os.O_WRONLY | os.O_APPEND), os.open("f", os.O_RDWR)
    os.write(appender, b"a")
    os.ftruncate(other, 4)
    os.write(appender, b"b")
    os.pwrite(other, b"c", 20)
    os.write(appender, b"d")
    os.truncate("f", 6)
    os.write(appender, b"e")
    return content("f")


@check
def exclusive_creation_has_one_winner():
    return [sum(1 for outcome in together(6, lambda _: got(os.open, f"f{turn}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                if outcome == "ok") for turn in range(30)] + [len(names())]


@check
def exclusive_names_have_one_winner():
    """When several processes make one name by mkdir, link, symlink or mkfifo, exactly one succeeds."""
    for number in range(4):
        put(f"source{number}")
    actions = [lambda n, to: os.mkdir(to), lambda n, to: os.link(f"source{n}", to), lambda n, to: os.symlink("x", to),
               lambda n, to: os.mkfifo(to)]
    result = []
    for turn in range(20):
        for at, action in enumerate(actions):
            result.append(sum(outcome == "ok" for outcome in together(4, lambda n: got(action, n, f"t{turn}-{at}"))))
    return result


@check
def creation_race_without_exclusive():
    """Processes that create a file at once without O_EXCL all succeed and get the same file."""
    result = []
    for turn in range(30):
        def make(number):
            descriptor = os.open(f"f{turn}", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            os.write(descriptor, bytes([65 + number]))
            return os.fstat(descriptor).st_ino
        inodes = together(4, make)
        result.append([len(set(inodes)), sorted(content(f"f{turn}")) == [65, 66, 67, 68]])
    return result


@check
def exclusive_sees_links():
    put("f")
    os.symlink("nowhere", "l")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    return [got(os.open, "l", flags), got(os.open, "f", flags), got(os.open, "l", os.O_CREAT | os.O_WRONLY), names(),
            got(os.open, "l", flags | os.O_NOFOLLOW), got(os.open, "l", os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW)]


@check
def create_with_a_mode_that_forbids():
    """The creator may read and write the file, whatever its mode."""
    descriptor = os.open("f", os.O_CREAT | os.O_RDWR, 0)
    os.write(descriptor, b"abc")
    return [mode("f"), os.pread(descriptor, 5, 0), os.fstat(descriptor).st_size]


@check
def synchronous_flags():
    result = []
    for flags in (os.O_SYNC, os.O_DSYNC, os.O_RSYNC):
        descriptor = os.open("f", os.O_RDWR | os.O_CREAT | flags)
        os.write(descriptor, b"data")
        result.append([bool(fcntl.fcntl(descriptor, fcntl.F_GETFL) & flags), os.pread(descriptor, 9, 0),
                       got(os.fsync, descriptor), got(os.fdatasync, descriptor), got(lambda: call("syncfs", descriptor))])
    reader = os.open("f", os.O_RDONLY)
    return result + [got(os.fsync, reader), got(lambda: call("sync_file_range", reader, 0, 0, 7))]


@check
def close_on_exec():
    put("f", b"content")
    kept, closed = os.open("f", os.O_RDONLY), os.open("f", os.O_RDONLY | os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.dup2(kept, 0)
        os.execl("/bin/sh", "sh", "-c", f"head -c 3 >out; test -e /proc/self/fd/{closed} && echo open >>out")
    os.waitpid(pid, 0)
    return [content("out"), os.lseek(kept, 0, os.SEEK_CUR)]


@check
def path_descriptors():
    put("f", b"content")
    os.symlink("f", "l")
    os.mkdir("d")
    file, link = os.open("f", os.O_PATH), os.open("l", os.O_PATH | os.O_NOFOLLOW)
    folder = os.open("d", os.O_PATH | os.O_DIRECTORY)
    result = [got(os.read, file, 1), got(os.write, file, b"x"), got(os.lseek, file, 0, 0), got(os.ftruncate, file, 0),
              got(os.fchmod, file, 0o600), got(os.fsync, file), got(fcntl.flock, file, fcntl.LOCK_SH), got(os.listdir, folder),
              os.fstat(file).st_size, stat.S_ISLNK(os.fstat(link).st_mode), got(os.fchdir, folder)]
    os.chdir("..")
    put("d/x", b"in d")
    inside = os.open("x", os.O_RDONLY, dir_fd=folder)
    os.rename("d", "e")
    again = os.open(f"/proc/self/fd/{file}", os.O_RDWR)
    os.write(again, b"C")
    return result + [os.read(inside, 9), os.stat("x", dir_fd=folder).st_size, content("f"),
                     got(os.mkdir, "y", dir_fd=folder), names("e"), got(os.open, "..", os.O_RDONLY, dir_fd=folder)]


@check
def path_descriptor_of_what_was_unlinked():
    os.symlink("x", "l")
    os.mkfifo("p")
    os.mkdir("d")
    opened = [os.open("l", os.O_PATH | os.O_NOFOLLOW), os.open("p", os.O_PATH), os.open("d", os.O_PATH),
              os.open("p", os.O_RDWR)]
    os.unlink("l")
    os.unlink("p")
    os.rmdir("d")
    return [[os.fstat(item).st_nlink, stat.filemode(os.fstat(item).st_mode)] for item in opened]


@check
def path_descriptor_of_an_unlinked_file():
    put("f")
    descriptor = os.open("f", os.O_PATH)
    os.unlink("f")
    return got(os.fstat, descriptor)


@check
def many_open_files():
    """A process can open as many files as its limit allows, and the next open fails."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000))
    opened = []
    try:
        while True:
            opened.append(os.open(f"f{len(opened)}", os.O_CREAT | os.O_RDWR))
    except OSError as error:
        result = [errno.errorcode[error.errno], len(opened) > 900]
    for number, descriptor in enumerate(opened):
        os.write(descriptor, b"%d" % number)
        os.unlink(f"f{number}")
    result.append(all(os.pread(d, 9, 0) == b"%d" % n and os.fstat(d).st_nlink == 0 for n, d in enumerate(opened)))
    for descriptor in opened:
        os.close(descriptor)
    return result + [names()]


@check
def one_file_opened_many_times():
    put("f", b"x" * 200_000)
    opened = [os.open("f", (os.O_RDONLY, os.O_RDWR, os.O_WRONLY, os.O_RDONLY)[n % 4]) for n in range(400)]
    os.pwrite(opened[1], b"changed", 150_000)
    seen = {os.pread(d, 7, 150_000) for n, d in enumerate(opened) if n % 4 != 2}
    for descriptor in opened[:200]:
        os.close(descriptor)
    os.pwrite(opened[202], b"CHANGED", 150_000)
    seen |= {os.pread(d, 7, 150_000) for n, d in enumerate(opened) if n >= 200 and n % 4 != 2}
    return sorted(item.decode() for item in seen)


@check
def descriptor_flags():
    put("f", b"content")
    result = []
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_RDONLY | os.O_NONBLOCK, os.O_RDWR | os.O_NOATIME):
        descriptor = os.open("f", flags)
        result.append([oct(fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~0o100000), got(os.read, descriptor, 1),
                       got(os.write, descriptor, b"x"), got(os.lseek, descriptor, -1, os.SEEK_SET),
                       got(os.lseek, descriptor, 5, 9), got(os.ftruncate, descriptor, 20), got(os.pread, descriptor, 1, -1)])
    return result
