"""A read-only mount (`-o ro`), compared with a read-only bind mount of the plain directory."""
import os

from posix_check import call, check, content, got, names, put, value


def prepare(place):
    """Creates the tree for the checks, before the mount becomes read-only."""
    os.chdir(place)
    put("file", b"content" * 50_000)
    put("program", open("/bin/true", "rb").read(), 0o755)
    os.makedirs("d/sub")
    put("d/sub/f", b"deep")
    os.symlink("file", "link")
    os.mkfifo("fifo")
    os.setxattr("file", "user.a", b"1")
    put("unread")
    os.utime("unread", (1, 2))


def protect(place):
    """Mounts the plain directory read-only over itself, in this process's own namespace."""
    call("unshare", 0x20000)
    call("mount", b"none", b"/", None, 0x44000, None)
    call("mount", os.fsencode(place), os.fsencode(place), None, 0x1000, None)
    call("mount", b"none", os.fsencode(place), None, 0x1000 | 0x20 | 1, None)
    os.chdir(place)


@check(root=True)
def readonly_refuses_changes():
    descriptor = os.open("file", os.O_RDONLY)
    return {
        "open_write": got(os.open, "file", os.O_WRONLY), "open_both": got(os.open, "file", os.O_RDWR),
        "open_truncate": got(os.open, "file", os.O_RDONLY | os.O_TRUNC), "create": got(os.open, "new", os.O_CREAT | os.O_WRONLY),
        "create_there": got(os.open, "file", os.O_CREAT | os.O_RDONLY), "create_there_write": got(os.open, "file", os.O_CREAT | os.O_WRONLY),
        "create_exclusive": got(os.open, "file", os.O_CREAT | os.O_EXCL), "temporary": got(os.open, ".", os.O_TMPFILE | os.O_RDWR),
        "mkdir": got(os.mkdir, "new"), "mkdir_there": got(os.mkdir, "d"), "mkfifo": got(os.mkfifo, "new"), "symlink": got(os.symlink, "x", "new"),
        "symlink_there": got(os.symlink, "x", "file"), "link": got(os.link, "file", "new"), "unlink": got(os.unlink, "file"),
        "unlink_none": got(os.unlink, "none"), "rmdir": got(os.rmdir, "d/sub"), "rmdir_none": got(os.rmdir, "none"), "rename": got(os.rename, "file", "new"),
        "rename_none": got(os.rename, "none", "new"), "chmod": got(os.chmod, "file", 0o600), "chown": got(os.chown, "file", 1, 1),
        "truncate": got(os.truncate, "file", 1), "utime": got(os.utime, "file"), "utime_set": got(os.utime, "file", (1, 1)),
        "setxattr": got(os.setxattr, "file", "user.b", b"1"), "removexattr": got(os.removexattr, "file", "user.a"),
        "fchmod": got(os.fchmod, descriptor, 0o600), "futime": got(os.utime, descriptor), "fallocate": got(os.posix_fallocate, descriptor, 0, 1),
        "access_write": os.access("file", os.W_OK), "access_read": os.access("file", os.R_OK), "access_directory": os.access(".", os.W_OK),
        "access_fifo": os.access("fifo", os.W_OK), "fifo": got(os.open, "fifo", os.O_RDWR), "fsync": got(os.fsync, descriptor),
    }


@check(root=True)
def readonly_can_be_read():
    descriptor = os.open("file", os.O_RDONLY)
    return [names(), names("d/sub"), content("d/sub/f"), len(content("file")), os.readlink("link"), value(os.getxattr, "file", "user.a"),
            os.listxattr("file"), os.system("./program"), os.lseek(descriptor, 0, os.SEEK_END), bool(os.statvfs(".").f_flag & os.ST_RDONLY)]


@check(root=True)
def readonly_maps():
    import mmap
    descriptor = os.open("file", os.O_RDONLY)
    private = mmap.mmap(descriptor, 4096, flags=mmap.MAP_PRIVATE)
    private[0:3] = b"own"
    return [private[0:7], got(mmap.mmap, descriptor, 4096), content("file")[:7]]


@check(root=True)
def readonly_reads_leave_atime():
    content("unread")
    return os.stat("unread").st_atime
