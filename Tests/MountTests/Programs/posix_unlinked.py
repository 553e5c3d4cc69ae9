"""Open files without a name: unlinked ones, and ones that never had a name (O_TMPFILE)."""
import mmap
import os
import stat

from posix_check import ALICE, BOB, STAFF, as_user, call, check, content, describe, got, in_child, mode, names, put, value


def opened_and_unlinked(flags=os.O_RDWR, size=0):
    put("f", b"content" + b"x" * size, 0o640)
    descriptor = os.open("f", flags)
    os.unlink("f")
    return descriptor


@check
def unlinked_is_read_and_written():
    descriptor = opened_and_unlinked()
    os.pwrite(descriptor, b"CON", 0)
    os.pwrite(descriptor, b"far", 100_000)
    status = os.fstat(descriptor)
    result = [os.pread(descriptor, 7, 0), status.st_nlink, status.st_size, oct(status.st_mode), names()]
    put("f", b"another")
    return result + [os.pread(descriptor, 7, 0), content("f"), os.fstat(descriptor).st_ino != os.stat("f").st_ino]


@check
def unlinked_is_changed():
    descriptor = opened_and_unlinked()
    os.ftruncate(descriptor, 3)
    os.fchmod(descriptor, 0o600)
    os.fchown(descriptor, os.getuid(), os.getgid())
    os.utime(descriptor, ns=(1_000_000_001, 2_000_000_002))
    os.setxattr(descriptor, "user.a", b"1")
    status = os.fstat(descriptor)
    result = [status.st_size, oct(status.st_mode), status.st_mtime_ns, os.getxattr(descriptor, "user.a"), os.listxattr(descriptor)]
    os.removexattr(descriptor, "user.a")
    os.posix_fallocate(descriptor, 0, 10000)
    os.ftruncate(descriptor, 20000)
    return result + [os.listxattr(descriptor), os.fstat(descriptor).st_size, got(os.fsync, descriptor), os.pread(descriptor, 5, 0)]


@check
def unlinked_read_only_descriptor():
    descriptor = opened_and_unlinked(os.O_RDONLY, 300_000)
    return [got(os.fchmod, descriptor, 0o604), got(os.setxattr, descriptor, "user.a", b"1"), got(os.ftruncate, descriptor, 1),
            got(os.write, descriptor, b"x"), oct(os.fstat(descriptor).st_mode), len(os.pread(descriptor, 400_000, 0)),
            got(os.truncate, f"/proc/self/fd/{descriptor}", 10), os.fstat(descriptor).st_size]


@check
def unlinked_is_opened_again():
    descriptor = opened_and_unlinked()
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR | os.O_APPEND)
    os.write(again, b"more")
    os.close(descriptor)
    third = os.open(f"/proc/self/fd/{again}", os.O_RDONLY)
    os.close(again)
    truncated = os.open(f"/proc/self/fd/{third}", os.O_WRONLY | os.O_TRUNC)
    return [os.fstat(third).st_size, os.write(truncated, b"new"), os.pread(third, 20, 0),
            got(os.open, f"/proc/self/fd/{third}", os.O_CREAT | os.O_EXCL | os.O_RDWR)]


@check
def unlinked_has_no_way_back():
    descriptor = opened_and_unlinked()
    return [got(lambda: call("linkat", -100, f"/proc/self/fd/{descriptor}".encode(), -100, b"g", 0x400)),
            got(lambda: call("linkat", descriptor, b"", -100, b"g", 0x1000)), names()]


@check
def unlinked_by_rename():
    put("f", b"old")
    put("g", b"new")
    descriptor = os.open("f", os.O_RDWR)
    os.rename("g", "f")
    os.write(descriptor, b"OLD")
    os.fchmod(descriptor, 0o600)
    return [os.fstat(descriptor).st_nlink, os.pread(descriptor, 9, 0), content("f"), mode("f"), oct(os.fstat(descriptor).st_mode)]


@check
def unlinked_mapping_lives_on():
    put("f", b"content" * 2000)
    with open("f", "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
        other = os.open("f", os.O_RDONLY)
    os.unlink("f")
    memory[0:3] = b"CON"
    memory.flush()
    result = [os.pread(other, 7, 0), os.fstat(other).st_nlink]
    os.close(other)
    memory[5000:5003] = b"abc"
    return result + [bytes(memory[4998:5004]), bytes(memory[:7])]


@check
def unlinked_is_inherited():
    descriptor = opened_and_unlinked()

    def use():
        os.pwrite(descriptor, b"child", 0)
        return os.fstat(descriptor).st_nlink
    return [in_child(use), os.pread(descriptor, 7, 0)]


@check
def unlinked_running_program():
    put("program", open("/bin/cat", "rb").read(), 0o755)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(reader, 0)
        os.close(writer)
        os.execv("./program", ["program"])
    os.close(reader)
    from posix_check import eventually
    eventually(lambda: os.readlink(f"/proc/{pid}/exe").endswith("/program"), "the program to start")
    result = [got(os.open, "program", os.O_WRONLY), got(os.truncate, "program", 0), got(os.unlink, "program"), names()]
    result.append(os.readlink(f"/proc/{pid}/exe").endswith("(deleted)"))
    os.close(writer)
    return result + [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]


@check
def execute_what_is_open_for_writing():
    put("program", open("/bin/true", "rb").read(), 0o755)
    writer = os.open("program", os.O_WRONLY)

    def run():
        os.execv("./program", ["program"])
    busy = in_child(lambda: got(run))
    os.close(writer)
    pid = os.fork()
    if pid == 0:
        os.execv("./program", ["program"])
    return [busy, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]


@check
def temporary_has_no_name():
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(descriptor, b"content" * 1000)
    status = os.fstat(descriptor)
    return [names(), status.st_nlink, status.st_size, stat.filemode(status.st_mode), os.pread(descriptor, 7, 0),
            got(os.ftruncate, descriptor, 3), os.fstat(descriptor).st_size]


@check
def temporary_gets_a_name():
    result = []
    for number, flags in enumerate((0x400, 0x1000)):
        descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
        os.write(descriptor, b"content")
        old = f"/proc/self/fd/{descriptor}".encode() if flags == 0x400 else b""
        at = -100 if flags == 0x400 else descriptor
        result.append(got(lambda: call("linkat", at, old, -100, b"f%d" % number, flags)))
        result += [describe(f"f{number}")[:2] + describe(f"f{number}")[4:], content(f"f{number}"), os.fstat(descriptor).st_nlink]
        os.write(descriptor, b" more")
        result.append(content(f"f{number}"))
        result.append(got(lambda: call("linkat", at, old, -100, b"again%d" % number, flags)))
        result.append(os.fstat(descriptor).st_nlink)
        os.close(descriptor)
    os.rename("f0", "g")
    os.unlink("again0")
    os.unlink("f1")
    return result + [names(), content("g"), content("again1"), os.stat("g").st_nlink, os.stat("again1").st_nlink]


@check
def temporary_over_what_is_there():
    put("f", b"old")
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    link = lambda name: got(lambda: call("linkat", -100, f"/proc/self/fd/{descriptor}".encode(), -100, name, 0x400))
    return [link(b"f"), content("f"), link(b"none/x"), link(b"g"), names(), os.stat("g").st_nlink]


@check
def temporary_exclusive_cannot_be_linked():
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o600)
    return [got(lambda: call("linkat", -100, f"/proc/self/fd/{descriptor}".encode(), -100, b"f", 0x400)), names()]


@check
def temporary_in_a_directory_that_goes():
    os.mkdir("d")
    descriptor = os.open("d", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(descriptor, b"content")
    os.rmdir("d")
    return [os.pread(descriptor, 9, 0), os.fstat(descriptor).st_nlink,
            got(lambda: call("linkat", -100, f"/proc/self/fd/{descriptor}".encode(), -100, b"f", 0x400)), names()]


@check(root=True)
def temporary_by_users():
    os.chmod(".", 0o777)
    os.mkdir("closed")
    os.mkdir("shared")
    os.chown("shared", 0, STAFF)
    os.chmod("shared", 0o2777)

    def make():
        os.umask(0o027)
        result = [got(os.open, "closed", os.O_TMPFILE | os.O_RDWR, 0o666)]
        for number, (folder, wanted) in enumerate((("shared", 0o666), (".", 0o6777), (".", 0o400))):
            descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, wanted)
            call("linkat", -100, f"/proc/self/fd/{descriptor}".encode(), -100, b"%s/f%d" % (folder.encode(), number), 0x400)
            result.append(describe(f"{folder}/f{number}"))
        return result
    return as_user(ALICE, make)


@check
def temporary_many_at_once():
    opened = [os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600) for _ in range(300)]
    for number, descriptor in enumerate(opened):
        os.pwrite(descriptor, b"%d" % number, 0)
    same = all(os.pread(d, 9, 0) == b"%d" % n for n, d in enumerate(opened))
    return [same, len({os.fstat(d).st_ino for d in opened}), names()]


@check
def temporary_opened_again_and_mapped():
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.ftruncate(descriptor, 20000)
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
    with mmap.mmap(again, 20000) as memory:
        memory[10000:10003] = b"abc"
        memory.flush()
    os.setxattr(descriptor, "user.a", b"1")
    result = [os.pread(descriptor, 3, 10000), os.fstat(again).st_size, os.listxattr(again), got(os.fchmod, again, 0o644)]
    os.close(descriptor)
    result.append(got(lambda: call("linkat", -100, f"/proc/self/fd/{again}".encode(), -100, b"f", 0x400)))
    return result + [mode("f"), os.listxattr("f"), content("f")[10000:10003], os.stat("f").st_size]
