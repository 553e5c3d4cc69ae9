"""Permissions: modes for owner, group, supplementary group and others; sticky directories."""
import os
import shutil

from posix_check import ALICE, BOB, CREW, STAFF, as_user, check, describe, got, mode, names, put, value

# The caller as seen from a file of ALICE and STAFF: user, group, supplementary groups.
CALLERS = {
    "owner": (ALICE, CREW, ()),
    "owner_in_group": (ALICE, STAFF, ()),
    "group": (BOB, STAFF, ()),
    "supplementary": (BOB, CREW, (65200, STAFF)),
    "other": (BOB, CREW, ()),
    "root": (0, 0, ()),
}


def each_caller(function, *arguments):
    return {
        name: as_user(user, function, *arguments, group=group, groups=groups)
        for name, (user, group, groups) in CALLERS.items()
    }


def own(path, user=ALICE, group=STAFF, bits=None):
    os.chown(path, user, group, follow_symlinks=False)
    if bits is not None:
        os.chmod(path, bits)


def try_file(path):
    return [
        got(os.open, path, os.O_RDONLY), got(os.open, path, os.O_WRONLY), got(os.open, path, os.O_RDWR),
        got(os.open, path, os.O_WRONLY | os.O_APPEND), got(os.open, path, os.O_RDONLY | os.O_NOATIME),
        os.access(path, os.R_OK), os.access(path, os.W_OK), os.access(path, os.X_OK),
        got(os.truncate, path, 4), got(os.getxattr, path, "user.a"), got(os.setxattr, path, "user.a", b"1"),
        got(os.utime, path, None), got(os.utime, path, (1, 1)), got(os.open, path, os.O_RDONLY | os.O_TRUNC),
    ]


@check(root=True)
def permission_file_modes():
    os.chmod(".", 0o777)
    result = {}
    for bits in (0o000, 0o400, 0o200, 0o100, 0o600, 0o040, 0o020, 0o060, 0o004, 0o002, 0o006, 0o077, 0o607, 0o770, 0o644):
        put("f", b"content")
        os.setxattr("f", "user.a", b"0")
        own("f", bits=bits)
        result[oct(bits)] = each_caller(try_file, "f")
        os.unlink("f")
    return result


def try_directory(path):
    return [
        got(os.listdir, path), got(os.stat, path + "/f"), got(os.open, path + "/f", os.O_RDONLY), got(os.chdir, path),
        got(os.mkdir, path + "/d"), got(os.rmdir, path + "/d"), got(os.symlink, "x", path + "/l"),
        got(os.unlink, path + "/l"), got(os.link, path + "/f", path + "/h"), got(os.unlink, path + "/h"),
        got(os.rename, path + "/f", path + "/g"), got(os.rename, path + "/g", path + "/f"),
        got(os.mkfifo, path + "/p"), got(os.unlink, path + "/p"), got(os.readlink, path + "/link"),
        got(os.open, path + "/new", os.O_CREAT | os.O_WRONLY), got(os.unlink, path + "/new"),
        got(os.stat, path + "/none"), got(os.statvfs, path), got(os.setxattr, path, "user.a", b"1"),
    ]


@check(root=True)
def permission_directory_modes():
    os.chmod(".", 0o777)
    result = {}
    for bits in (0o000, 0o700, 0o500, 0o300, 0o400, 0o070, 0o050, 0o030, 0o007, 0o005, 0o001, 0o077, 0o755, 0o711):
        os.mkdir("d")
        put("d/f", mode=0o666)
        own("d/f", ALICE)
        os.symlink("f", "d/link")
        own("d", bits=bits)
        result[oct(bits)] = each_caller(try_directory, "d")
        for name in os.listdir("d"):
            os.unlink("d/" + name)
        os.rmdir("d")
    return result


def try_execute(path):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(path, ["x"])
        except OSError as error:
            os._exit(error.errno)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@check(root=True)
def permission_execute():
    os.chmod(".", 0o755)
    result = {}
    for bits in (0o700, 0o500, 0o100, 0o710, 0o010, 0o701, 0o001, 0o644, 0o755):
        put("program", open("/bin/true", "rb").read())
        own("program", bits=bits)
        result[oct(bits)] = each_caller(try_execute, "./program")
        os.unlink("program")
    return result


def try_remove(entry):
    """Returns the outcome of each way to remove an entry from a directory or to replace it."""
    outcomes = [got(os.rename, "s/" + entry, "s/moved"), got(os.rename, "s/moved", "s/" + entry)]
    outcomes += [got(os.rename, "s/" + entry, "out/moved"), got(os.rename, "out/moved", "s/" + entry)]
    if entry == "directory":
        os.mkdir("out/mine")
        outcomes += [got(os.rename, "out/mine", "s/" + entry), got(os.rmdir, "s/" + entry)]
    else:
        put("out/mine")
        outcomes += [got(os.rename, "out/mine", "s/" + entry), got(os.unlink, "s/" + entry)]
    return outcomes


@check(root=True)
def permission_sticky_directory():
    os.chmod(".", 0o777)
    result = {}
    for bits in (0o777, 0o1777, 0o1770, 0o3777):
        for directory_owner, entry_owner in ((ALICE, ALICE), (ALICE, 0), (0, ALICE), (0, 0)):
            for entry in ("file", "directory", "link"):
                for name, (user, group, groups) in CALLERS.items():
                    os.mkdir("out")
                    os.chmod("out", 0o777)
                    os.mkdir("s")
                    {"file": put, "directory": os.mkdir}.get(entry, lambda p: os.symlink("x", p))("s/" + entry)
                    own("s/" + entry, entry_owner)
                    own("s", directory_owner, bits=bits)
                    key = f"{bits:o} {directory_owner} {entry_owner} {entry} {name}"
                    result[key] = as_user(user, try_remove, entry, group=group, groups=groups)
                    shutil.rmtree("out")
                    shutil.rmtree("s")
    return result


@check(root=True)
def permission_search_on_the_way():
    os.chmod(".", 0o755)
    os.makedirs("a/b/c")
    put("a/b/c/f", mode=0o666)
    result = {}
    for closed in ("a", "a/b", "a/b/c"):
        own(closed, bits=0o700)
        result[closed] = each_caller(lambda: [
            got(os.stat, "a/b/c/f"), got(os.open, "a/b/c/f", os.O_RDONLY), got(os.truncate, "a/b/c/f", 0),
            got(os.chmod, "a/b/c/f", 0o777), got(os.unlink, "a/b/c/none"), got(os.mkdir, "a/b/c/f"),
            got(os.rename, "a/b/c/f", "a/b/c/f"), got(os.readlink, "a/b/c/f"), got(os.chdir, "a/b/c")])
        own(closed, 0, 0, bits=0o755)
    return result


@check(root=True)
def permission_descriptor_outlives_the_mode():
    put("f", b"content", 0o666)

    def keep_using():
        reader, writer = os.open("f", os.O_RDONLY), os.open("f", os.O_RDWR)
        os.write(writer, b"new")
        return [got(os.open, "f", os.O_RDONLY), os.pread(reader, 10, 0), got(os.fchmod, writer, 0o600),
                got(os.fchown, writer, BOB, -1), got(os.ftruncate, writer, 2), os.fstat(writer).st_size]
    before = as_user(BOB, keep_using)
    os.chmod("f", 0o000)
    return [before, as_user(BOB, lambda: got(os.open, "f", os.O_RDONLY)), as_user(BOB, lambda: os.access("f", 0)),
            mode("f")]


@check(root=True)
def permission_new_entries_have_the_callers_ids():
    os.chmod(".", 0o777)

    def make():
        os.umask(0o027)
        put("f")
        os.close(os.open("created", os.O_CREAT | os.O_WRONLY, 0o666))
        os.mkdir("d")
        os.mkfifo("p")
        os.symlink("f", "l")
        os.link("f", "h")
        os.mknod("s", 0o140666)
        os.mknod("n", 0o100666)
    as_user(ALICE, make, group=STAFF, groups=(CREW,))
    return {name: describe(name) for name in names()}


@check(root=True)
def permission_protected_links():
    """fs.protected_hardlinks and similar settings apply on both sides."""
    put("theirs", mode=0o600)
    os.chmod(".", 0o777)
    os.mkdir("tmp")
    os.chmod("tmp", 0o1777)
    os.symlink("../theirs", "tmp/link")
    own("tmp/link", BOB)
    os.mkfifo("tmp/fifo")
    own("tmp/fifo", BOB, bits=0o666)
    put("tmp/file", mode=0o666)
    own("tmp/file", BOB)
    return each_caller(lambda: [
        got(os.link, "theirs", f"mine{os.getuid()}{os.getgid()}{len(os.getgroups())}"),
        value(os.readlink, "tmp/link"), got(os.open, "tmp/link", os.O_RDONLY),
        got(os.open, "tmp/file", os.O_WRONLY | os.O_CREAT), got(os.open, "tmp/fifo", os.O_RDWR | os.O_CREAT)])
