"""The errno of each call that takes a path, for each kind of wrong path (pjdfstest, LTP's syscalls)."""
import os
import shutil
import socket
import stat

from posix_check import call, check, got, in_child, put, value

LONG = b"n" * 255


def fixture(shape):
    """Creates one entry of each kind, and symbolic links to them, to nothing and in a loop."""
    if os.path.lexists("t"):
        shutil.rmtree("t")
    os.mkdir("t")
    os.chdir("t")
    put("file", b"content")
    os.mkdir("empty")
    os.mkdir("full")
    put("full/x")
    os.symlink("file", "tofile")
    os.symlink("empty", "toempty")
    os.symlink("nowhere", "dangling")
    os.symlink("loop", "loop")
    os.symlink("ring2", "ring1")
    os.symlink("ring1", "ring2")
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    put(LONG)
    previous = "file"
    for number in range(42 if shape.startswith(b"chain") else 0):
        os.symlink(previous, f"chain{number}")
        previous = f"chain{number}"
    os.chdir("..")


SHAPES = [
    b"", b"/", b".", b"..", b"none", b"none/", b"none/x", b"file", b"file/", b"file/x", b"file/.", b"file/..",
    b"empty", b"empty/", b"empty/.", b"empty/..", b"full", b"full/", b"full/x", b"tofile", b"tofile/", b"tofile/x",
    b"toempty", b"toempty/", b"toempty/.", b"toempty/x", b"dangling", b"dangling/", b"dangling/x", b"loop", b"loop/",
    b"loop/x", b"ring1", b"fifo", b"fifo/", b"fifo/x", b"socket", b"socket/x",
    LONG, LONG + b"/", LONG + b"/x", b"n" * 256, b"n" * 256 + b"/x", b"n" * 300, b"n" * 1023, b"n" * 1024,
    b"n" * 1025, b"empty/" + b"n" * 256, b"n" * 254, b"./" * 2047 + b"x", b"./" * 2048, b"/".join([b"n" * 255] * 17),
    b"chain39", b"chain40",
]


def matrix(operation):
    """Returns the operation's outcome for each shape, each in a new tree."""
    outcomes = {}
    is_fresh = False
    for shape in SHAPES:
        if not is_fresh or shape == b"chain39":
            fixture(shape)
        os.chdir("t")
        # Operations that could change the real `/` are not tried on it.
        outcome = value(operation, shape) if shape != b"/" or operation in SAFE_ON_ROOT else "not tried"
        os.chdir("..")
        key = shape.decode() if len(shape) < 40 else f"{len(shape)}:{shape[:1].decode()}..{shape[-2:].decode()}"
        outcomes[key] = "ok" if outcome is None else outcome
        is_fresh = isinstance(outcome, str) and outcome.startswith("E")
    shutil.rmtree("t")
    return outcomes


def opener(flags, mode=0o644):
    return lambda path: got(os.open, path, flags | os.O_NONBLOCK, mode)


def lookers(path):
    status = os.lstat(path)
    return stat.filemode(status.st_mode)[0]


SINGLE = {
    "open_read": opener(os.O_RDONLY),
    "open_write": opener(os.O_WRONLY),
    "open_both": opener(os.O_RDWR),
    "open_truncate": opener(os.O_WRONLY | os.O_TRUNC),
    "open_create": opener(os.O_WRONLY | os.O_CREAT),
    "open_create_read": opener(os.O_RDONLY | os.O_CREAT),
    "open_exclusive": opener(os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    "open_create_directory": opener(os.O_RDONLY | os.O_CREAT | os.O_DIRECTORY),
    "open_directory": opener(os.O_RDONLY | os.O_DIRECTORY),
    "open_nofollow": opener(os.O_RDONLY | os.O_NOFOLLOW),
    "open_path": opener(os.O_PATH),
    "open_path_nofollow": opener(os.O_PATH | os.O_NOFOLLOW),
    "open_path_directory": opener(os.O_PATH | os.O_DIRECTORY),
    "open_temporary": opener(os.O_TMPFILE | os.O_RDWR),
    "open_temporary_read": opener(os.O_TMPFILE | os.O_RDONLY),
    "open_bad_access": opener(3),
    "stat": lambda path: stat.filemode(os.stat(path).st_mode)[0],
    "lstat": lookers,
    "access": lambda path: got(lambda: call("access", path, os.R_OK)),
    "access_execute": lambda path: got(lambda: call("access", path, os.X_OK)),
    "access_bad_mode": lambda path: got(lambda: call("access", path, 0o17)),
    "readlink": lambda path: os.readlink(path),
    "mkdir": lambda path: os.mkdir(path),
    "mkfifo": lambda path: os.mkfifo(path),
    "mknod_file": lambda path: os.mknod(path, stat.S_IFREG | 0o644),
    "mknod_socket": lambda path: os.mknod(path, stat.S_IFSOCK | 0o644),
    "mknod_directory": lambda path: os.mknod(path, stat.S_IFDIR | 0o755),
    "symlink": lambda path: os.symlink("target", path),
    "symlink_empty": lambda path: os.symlink("", path),
    "unlink": lambda path: os.unlink(path),
    "rmdir": lambda path: os.rmdir(path),
    "unlinkat_bad_flag": lambda path: got(lambda: call("unlinkat", -100, path, 0x7)),
    "chdir": lambda path: in_child(got, os.chdir, path),
    "listdir": lambda path: len(os.listdir(path)) >= 0,
    "truncate": lambda path: os.truncate(path, 3),
    "truncate_negative": lambda path: os.truncate(path, -1),
    "chmod": lambda path: os.chmod(path, 0o700),
    "chmod_link": lambda path: got(lambda: call("syscall", 452, -100, path, 0o700, 0x100)),
    "chown": lambda path: os.chown(path, 1, 2),
    "lchown": lambda path: os.lchown(path, 1, 2),
    "utime": lambda path: os.utime(path, (1, 2)),
    "utime_link": lambda path: os.utime(path, (1, 2), follow_symlinks=False),
    "utime_bad_nanoseconds": lambda path: got(lambda: utime_raw(path, 1 << 30 | 5)),
    "getxattr": lambda path: os.getxattr(path, "user.none"),
    "setxattr": lambda path: os.setxattr(path, "user.a", b"v"),
    "setxattr_link": lambda path: os.setxattr(path, "user.a", b"v", follow_symlinks=False),
    "listxattr": lambda path: [name for name in os.listxattr(path) if name.startswith("user.")],
    "removexattr": lambda path: os.removexattr(path, "user.none"),
    "execute": lambda path: os.execv(path, ["x"]),
    "link_from": lambda path: os.link(path, "new", follow_symlinks=False),
    "link_from_followed": lambda path: got(lambda: call("linkat", -100, path, -100, b"new", 0x400)),
    "link_to": lambda path: os.link("file", path),
    "link_directory": lambda path: os.link("empty", path),
    "rename_from": lambda path: os.rename(path, "new"),
    "rename_file_to": lambda path: os.rename("file", path),
    "rename_empty_to": lambda path: os.rename("empty", path),
    "rename_full_to": lambda path: os.rename("full", path),
    "rename_link_to": lambda path: os.rename("tofile", path),
    "rename_fifo_to": lambda path: os.rename("fifo", path),
    "rename_onto_itself": lambda path: os.rename(path, path),
}
SAFE_ON_ROOT = {
    SINGLE[name] for name in (
        "open_read", "open_write", "open_both", "open_truncate", "open_create", "open_exclusive", "open_directory",
        "open_path", "open_nofollow", "stat", "lstat", "access", "readlink", "mkdir", "mkfifo", "symlink", "unlink",
        "chdir", "listdir", "execute", "mknod_file")
}


def utime_raw(path, nanoseconds):
    import ctypes
    times = (ctypes.c_long * 4)(1, nanoseconds, 2, 0)
    return call("utimensat", -100, path, times, 0)


@check
def errors_of_unknown_flags():
    """Each call that takes flags gets a flag that no system defines."""
    put("f")
    os.mkdir("d")
    descriptor, unknown = os.open("f", os.O_RDWR), 1 << 27
    calls = {
        "linkat": (-100, b"f", -100, b"h", unknown), "unlinkat": (-100, b"f", unknown), "renameat2": (-100, b"f", -100, b"g", unknown),
        "fchownat": (-100, b"f", -1, -1, unknown), "utimensat": (-100, b"f", None, unknown), "faccessat": (-100, b"f", 4, unknown),
        "fallocate": (descriptor, unknown, 0, 1), "copy_file_range": (descriptor, None, descriptor, None, 0, unknown),
        "sync_file_range": (descriptor, 0, 0, unknown), "posix_fadvise": (descriptor, 0, 0, 99), "mknod": (b"n", 0o160000, 0),
        "statx": (-100, b"f", unknown, 0x7FF, b"x" * 256), "name_to_handle_at": (-100, b"f", b"x" * 200, b"x" * 8, unknown),
    }
    return {name: value(call, name, *arguments) for name, arguments in calls.items()} | {"names": sorted(os.listdir("."))}


def add(name, operation):
    def function():
        return matrix(operation)
    function.__name__ = "errors_" + name
    check(function, root=name in ("chown", "lchown"))


for operation_name, operation_function in SINGLE.items():
    add(operation_name, operation_function)
