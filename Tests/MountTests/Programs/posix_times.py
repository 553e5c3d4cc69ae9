"""Times (atime, mtime, ctime) that a call updates, for the file and for its directory."""
import ctypes
import mmap
import os
import shutil
import socket

from posix_check import ALICE, as_user, call, check, content, got, put, tick, value

NOW, OMIT = (1 << 30) - 1, (1 << 30) - 2


def stamps(path):
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns


def advanced(before, after):
    if before is None or after is None:
        return "gone" if before else "new" if after else "none"
    return "".join(letter for letter, old, new in zip("amc", before, after) if new > old) + \
        "".join(letter.upper() for letter, old, new in zip("amc", before, after) if new < old)


def effect(action, *paths):
    """Returns the times that the action advanced for each path. A capital letter is a time that went back."""
    tick()
    before = [stamps(path) for path in paths]
    outcome = got(action)
    return [outcome] + [advanced(old, stamps(path)) for old, path in zip(before, paths)]


def fixture():
    os.mkdir("d")
    os.mkdir("e")
    put("d/f", b"content" * 1000)
    put("d/g", b"other")
    os.link("d/g", "e/g2")
    os.mkdir("d/sub")
    os.symlink("f", "d/l")
    os.mkfifo("d/p")
    os.mkdir("d/full")
    put("d/full/x")


def with_file(flags, action):
    def run():
        descriptor = os.open("d/f", flags)
        try:
            action(descriptor)
        finally:
            os.close(descriptor)
    return run


def mapping(write):
    def run(descriptor):
        with mmap.mmap(descriptor, 4096, prot=mmap.PROT_READ | (mmap.PROT_WRITE if write else 0)) as memory:
            if write:
                memory[0] = 65
                memory.flush()
            else:
                bytes(memory[:10])
    return run


def bind(path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path)


RDWR, RDONLY, WRONLY = os.O_RDWR, os.O_RDONLY, os.O_WRONLY
# The action, and the paths whose times are compared.
ACTIONS = {
    "open": (with_file(RDONLY, lambda d: None), "d/f", "d"),
    "open_write": (with_file(RDWR, lambda d: None), "d/f", "d"),
    "open_truncate": (with_file(WRONLY | os.O_TRUNC, lambda d: None), "d/f", "d"),
    "open_create_new": (lambda: put("d/new"), "d/new", "d"),
    "open_create_there": (with_file(WRONLY | os.O_CREAT, lambda d: None), "d/f", "d"),
    "write": (with_file(RDWR, lambda d: os.write(d, b"x")), "d/f", "d"),
    "write_nothing": (with_file(RDWR, lambda d: os.write(d, b"")), "d/f", "d"),
    "write_direct": (with_file(RDWR | os.O_DIRECT, lambda d: os.write(d, mmap.mmap(-1, 4096))), "d/f"),
    "append": (with_file(WRONLY | os.O_APPEND, lambda d: os.write(d, b"x")), "d/f", "d"),
    "pwritev": (with_file(RDWR, lambda d: os.pwritev(d, [b"x"], 9)), "d/f", "d"),
    "ftruncate_shorter": (with_file(RDWR, lambda d: os.ftruncate(d, 3)), "d/f", "d"),
    "ftruncate_longer": (with_file(RDWR, lambda d: os.ftruncate(d, 90000)), "d/f", "d"),
    "ftruncate_same": (with_file(RDWR, lambda d: os.ftruncate(d, 7000)), "d/f", "d"),
    "truncate_shorter": (lambda: os.truncate("d/f", 3), "d/f", "d"),
    "truncate_longer": (lambda: os.truncate("d/f", 90000), "d/f", "d"),
    "truncate_same": (lambda: os.truncate("d/f", 7000), "d/f", "d"),
    "fallocate": (with_file(RDWR, lambda d: os.posix_fallocate(d, 0, 9000)), "d/f"),
    "fallocate_within": (with_file(RDWR, lambda d: os.posix_fallocate(d, 0, 10)), "d/f"),
    "fallocate_keep_size": (with_file(RDWR, lambda d: call("fallocate", d, 1, 0, 90000)), "d/f"),
    "punch": (with_file(RDWR, lambda d: call("fallocate", d, 3, 0, 4096)), "d/f"),
    "zero_range": (with_file(RDWR, lambda d: call("fallocate", d, 16, 0, 100)), "d/f"),
    "mmap_write": (with_file(RDWR, mapping(True)), "d/f", "d"),
    "fsync": (with_file(RDWR, os.fsync), "d/f", "d"),
    "copy_file_range": (with_file(RDWR, lambda d: os.copy_file_range(d, d, 10, 0, 100)), "d/f"),
    "chmod": (lambda: os.chmod("d/f", 0o600), "d/f", "d"),
    "chmod_same": (lambda: os.chmod("d/f", 0o644), "d/f", "d"),
    "chmod_directory": (lambda: os.chmod("d", 0o700), "d"),
    "chown": (lambda: os.chown("d/f", 5, 6), "d/f", "d"),
    "chown_nothing": (lambda: os.chown("d/f", -1, -1), "d/f", "d"),
    "lchown": (lambda: os.lchown("d/l", 5, 6), "d/l", "d/f", "d"),
    "link": (lambda: os.link("d/f", "e/h"), "d/f", "e/h", "d", "e"),
    "unlink": (lambda: os.unlink("d/f"), "d/f", "d"),
    "unlink_one_of_two": (lambda: os.unlink("d/g"), "e/g2", "d", "e"),
    "symlink": (lambda: os.symlink("x", "d/new"), "d/new", "d"),
    "mkdir": (lambda: os.mkdir("d/new"), "d/new", "d", "."),
    "rmdir": (lambda: os.rmdir("d/sub"), "d/sub", "d", "."),
    "mkfifo": (lambda: os.mkfifo("d/new"), "d/new", "d"),
    "bind": (lambda: bind("d/new"), "d/new", "d"),
    "rename": (lambda: os.rename("d/f", "d/new"), "d/f", "d/new", "d"),
    "rename_across": (lambda: os.rename("d/f", "e/new"), "d", "e", "e/new"),
    "rename_over": (lambda: os.rename("d/f", "e/g2"), "d", "e", "e/g2", "d/g"),
    "rename_directory": (lambda: os.rename("d/sub", "e/sub"), "d", "e", "e/sub"),
    "rename_same_inode": (lambda: os.rename("d/g", "e/g2"), "d", "e", "d/g"),
    "exchange": (lambda: call("renameat2", -100, b"d/f", -100, b"e/g2", 2), "d", "e", "d/f", "e/g2"),
    "setxattr": (lambda: os.setxattr("d/f", "user.a", b"1"), "d/f", "d"),
    "setxattr_directory": (lambda: os.setxattr("d", "user.a", b"1"), "d"),
    "removexattr_none": (lambda: os.removexattr("d/f", "user.none"), "d/f"),
    "utime_now": (lambda: os.utime("d/f"), "d/f", "d"),
    "failed_create": (lambda: os.mkdir("d/f"), "d/f", "d"),
    "failed_unlink": (lambda: os.unlink("d/none"), "d"),
    "failed_rmdir": (lambda: os.rmdir("d/full"), "d/full", "d"),
    "failed_rename": (lambda: os.rename("d/f", "d/full"), "d/f", "d/full", "d"),
    "failed_link": (lambda: os.link("d/f", "d/g"), "d/f", "d/g", "d"),
    "failed_truncate": (lambda: os.truncate("d/f", -1), "d/f"),
    "stat": (lambda: os.stat("d/f"), "d/f", "d"),
    "access": (lambda: os.access("d/f", os.R_OK), "d/f", "d"),
    "lookup_of_nothing": (lambda: os.stat("d/none"), "d"),
}


@check
def times_advanced_by_each_call():
    result = {}
    for name, (action, *paths) in ACTIONS.items():
        fixture()
        result[name] = effect(action, *paths)
        shutil.rmtree("d")
        shutil.rmtree("e")
    return result
