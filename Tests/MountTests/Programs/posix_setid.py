"""Calls that clear a file's set-user-ID, set-group-ID and capabilities, and set-group-ID directories."""
import mmap
import os
import shutil

from posix_check import ALICE, STAFF, as_user, call, check, content, describe, got, mode, put, value
from posix_permission import CALLERS, own


def by_write(path):
    with open(path, "r+b", buffering=0) as file:
        file.write(b"y")


def by_nothing_written(path):
    with open(path, "r+b", buffering=0) as file:
        file.write(b"")


def by_allocate(path):
    with open(path, "r+b") as file:
        os.posix_fallocate(file.fileno(), 0, 100)


def by_punch(path):
    with open(path, "r+b") as file:
        call("fallocate", file.fileno(), 3, 0, 4096)


def by_mapping(path):
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0:1] = b"z"
        memory.flush()


def by_copy(path):
    with open(path, "r+b") as file, open("source", "rb") as source:
        os.copy_file_range(source.fileno(), file.fileno(), 1)


def by_splice(path):
    reader, writer = os.pipe()
    os.write(writer, b"s")
    with open(path, "r+b") as file:
        os.splice(reader, file.fileno(), 1)


def by_direct(path):
    descriptor = os.open(path, os.O_WRONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, 4096)
    os.write(descriptor, memory)
    os.close(descriptor)


def by_vector(path):
    with open(path, "r+b") as file:
        os.pwritev(file.fileno(), [b"a", b"b"], 0)


CHANGES = {
    "write": by_write, "write_nothing": by_nothing_written, "fallocate": by_allocate, "punch": by_punch,
    "mmap": by_mapping, "copy_file_range": by_copy, "splice": by_splice, "direct": by_direct, "pwritev": by_vector,
    "truncate": lambda path: os.truncate(path, 1),
    "truncate_same": lambda path: os.truncate(path, 7),
    "open_truncate": lambda path: os.close(os.open(path, os.O_WRONLY | os.O_TRUNC)),
    "open_only": lambda path: os.close(os.open(path, os.O_WRONLY)),
    "read": content,
    "utime": lambda path: os.utime(path, None),
    "setxattr": lambda path: os.setxattr(path, "user.a", b"1"),
    "link": lambda path: os.link(path, path + "2"),
    "rename": lambda path: os.rename(path, path + "3"),
}


def cleared_by(change):
    """Returns the mode after the change, by caller and mode before it."""
    os.chmod(".", 0o777)
    put("source")
    result = {}
    for bits in (0o4777, 0o2777, 0o6777, 0o6767, 0o2766, 0o6666):
        for name, (user, group, groups) in CALLERS.items():
            put("f", b"content")
            own("f", bits=bits)
            outcome = as_user(user, lambda: got(change, "f"), group=group, groups=groups)
            left = "f" if os.path.exists("f") else "f3"
            # Read twice: from the kernel's cache, and from the file system through another descriptor.
            descriptor = os.open(left, os.O_RDONLY)
            result[f"{bits:o} {name}"] = [outcome, mode(left), oct(os.fstat(descriptor).st_mode & 0o7777)]
            os.close(descriptor)
            for path in ("f", "f2", "f3"):
                if os.path.exists(path):
                    os.unlink(path)
    return result


def add(name, change):
    def function():
        return cleared_by(change)
    function.__name__ = "setid_cleared_by_" + name
    check(function, root=True)


for change_name, change_function in CHANGES.items():
    add(change_name, change_function)


@check(root=True)
def setid_directory_inherits_its_group():
    result = {}
    for bits in (0o2777, 0o777, 0o3777):
        for name, (user, group, groups) in CALLERS.items():
            os.mkdir("d")
            own("d", 0, STAFF, bits=bits)

            def make():
                os.umask(0)
                for at, wanted in enumerate((0o644, 0o2755, 0o6777, 0o2767, 0o1666)):
                    os.close(os.open(f"d/f{at}", os.O_CREAT | os.O_WRONLY, wanted))
                    os.mkdir(f"d/d{at}", wanted)
                    os.mknod(f"d/p{at}", 0o010000 | wanted)
                os.symlink("x", "d/l")
                return {entry: describe("d/" + entry) for entry in sorted(os.listdir("d"))}
            result[f"{bits:o} {name}"] = as_user(user, make, group=group, groups=groups)
            shutil.rmtree("d")
    return result


@check(root=True)
def setid_capability_is_lost_by_a_write():
    """Even root's first change to the content of a file removes its security.capability."""
    result = {}
    changes = {name: CHANGES[name] for name in ("write", "truncate", "open_only", "utime", "fallocate")}
    changes["chown"] = lambda path: os.chown(path, ALICE, STAFF)
    for name, change in changes.items():
        result[name] = capability_after(change)
    return result


def capability_after(change):
    put("f", b"content", 0o777)
    os.setxattr("f", "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
    change("f")
    return value(lambda: len(os.getxattr("f", "security.capability")))


@check(root=True)
def setid_capability_and_a_mapping():
    return capability_after(by_mapping)
