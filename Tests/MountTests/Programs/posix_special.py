"""FIFOs, Unix sockets, device files, programs and scripts, watchers, and mounts inside the container."""
import ctypes
import os
import select
import socket
import stat
import struct

from posix_check import ALICE, Child, as_user, call, check, content, describe, eventually, got, in_child, names, put, value


@check
def fifo_between_processes():
    os.mkfifo("p", 0o640)
    child = Child(lambda: open("p", "rb").read())
    with open("p", "wb") as pipe:
        pipe.write(b"x" * 200_000)
    return [len(child.result()), describe("p")]


@check
def fifo_open_modes():
    os.mkfifo("p")
    reader = os.open("p", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open("p", os.O_WRONLY | os.O_NONBLOCK)
    result = [got(os.read, reader, 1), os.write(writer, b"abc"), os.read(reader, 9)]
    os.close(reader)
    result += [got(os.open, "p", os.O_WRONLY | os.O_NONBLOCK), got(os.lseek, writer, 0, 0), got(os.ftruncate, writer, 0), got(os.fsync, writer)]
    both = os.open("p", os.O_RDWR)
    os.unlink("p")
    os.write(both, b"still")
    return result + [os.read(both, 9), os.fstat(both).st_nlink, stat.S_ISFIFO(os.fstat(both).st_mode), got(os.fchmod, both, 0o600)]


@check
def fifo_renamed_and_linked():
    os.mkfifo("p")
    reader = os.open("p", os.O_RDONLY | os.O_NONBLOCK)
    os.rename("p", "q")
    os.link("q", "r")
    writer = os.open("r", os.O_WRONLY)
    os.write(writer, b"same")
    return [os.read(reader, 9), os.stat("q").st_nlink, names()]


@check
def socket_stream_and_datagram():
    result = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        server, client = socket.socket(socket.AF_UNIX, kind), socket.socket(socket.AF_UNIX, kind)
        server.bind("s")
        result.append([stat.filemode(os.lstat("s").st_mode), got(socket.socket(socket.AF_UNIX, kind).bind, "s"), got(os.open, "s", os.O_RDWR)])
        if kind != socket.SOCK_DGRAM:
            server.listen()
        client.connect("s")
        client.send(b"hello")
        receiver = server if kind == socket.SOCK_DGRAM else server.accept()[0]
        result.append(receiver.recv(100))
        os.rename("s", "moved")
        again = socket.socket(socket.AF_UNIX, kind)
        result += [got(again.connect, "s"), got(again.connect, "moved")]
        server.close()
        result.append(got(socket.socket(socket.AF_UNIX, kind).connect, "moved"))
        os.unlink("moved")
    return result


@check(root=True)
def socket_permissions():
    os.chmod(".", 0o755)
    server = socket.socket(socket.AF_UNIX)
    server.bind("s")
    server.listen()
    result = []
    for bits in (0o700, 0o777, 0o755):
        os.chmod("s", bits)
        result.append(as_user(ALICE, lambda: got(socket.socket(socket.AF_UNIX).connect, "s")))
    return result


@check(root=True)
def device_nodes_are_made():
    os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.mknod("block", stat.S_IFBLK | 0o600, os.makedev(7, 99))
    os.mknod("big", stat.S_IFCHR | 0o600, os.makedev(300, 70000))
    os.chmod(".", 0o777)
    return [[stat.filemode(os.stat(n).st_mode), os.major(os.stat(n).st_rdev), os.minor(os.stat(n).st_rdev)] for n in ("null", "block", "big")] + [
        as_user(ALICE, lambda: [got(os.mknod, "x", stat.S_IFCHR | 0o666, os.makedev(1, 3)), got(os.mknod, "y", stat.S_IFIFO | 0o666), got(os.mknod, "z", stat.S_IFREG | 0o666)])]


@check(root=True)
def device_nodes_are_opened():
    os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    return got(os.open, "null", os.O_RDWR)


@check
def programs_and_scripts_run():
    put("true", open("/bin/true", "rb").read(), 0o755)
    put("script", b"#!/bin/sh\necho \"$0 $1\" > out; exit 3\n", 0o755)
    put("nothing", b"no program at all", 0o755)
    put("lost", b"#!/no/such/interpreter\n", 0o755)
    os.symlink("script", "link")

    def run(path):
        pid = os.fork()
        if pid == 0:
            try:
                os.execv(path, [path, "argument"])
            except OSError as error:
                os._exit(error.errno)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    result = [[path, run(path)] for path in ("./true", "./script", "./link", "./nothing", "./lost", "./none", ".")]
    descriptor = os.open("true", os.O_RDONLY)
    os.unlink("true")
    return result + [content("out"), in_child(lambda: run(f"/proc/self/fd/{descriptor}"))]


@check(root=True)
def programs_with_setuid():
    os.chmod(".", 0o755)
    put("id", open("/usr/bin/id", "rb").read(), 0o4755)
    os.chown("id", ALICE, ALICE)
    os.chmod("id", 0o4755)
    return [os.popen("./id -u").read()]


def watch(path, mask=0xFFF):
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(descriptor, os.fsencode(path), mask)
    return descriptor


def seen(descriptor):
    """Returns the kinds and names of the events so far, except for reading, opening and closing."""
    found, data = [], b""
    while select.select([descriptor], [], [], 0)[0]:
        data = os.read(descriptor, 65536)
        at = 0
        while at < len(data):
            _, mask, _, length = struct.unpack_from("iIII", data, at)
            name = data[at + 16:at + 16 + length].rstrip(b"\0").decode()
            found.append(f"{mask & 0xFFFFFF:x} {name}")
            at += 16 + length
    return found


@check
def watchers_are_told():
    put("f", b"x")
    watching = watch(".", 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200)
    result = []
    for action in (lambda: put("new"), lambda: os.mkdir("d"), lambda: os.rename("f", "g"), lambda: os.link("g", "h"), lambda: os.chmod("g", 0o600),
                   lambda: os.truncate("g", 9), lambda: os.unlink("h"), lambda: os.symlink("x", "l"), lambda: os.rename("new", "g"), lambda: os.rmdir("d"),
                   lambda: os.utime("g"), lambda: os.setxattr("g", "user.a", b"1")):
        action()
        result.append(seen(watching))
    return result


@check(root=True)
def mounts_below_are_busy():
    def run():
        call("unshare", 0x20000)
        call("mount", b"none", b"/", None, 0x44000, None)
        os.makedirs("d/m")
        call("mount", b"none", b"d/m", b"tmpfs", 0, None)
        put("d/m/inside")
        result = [got(os.rmdir, "d/m"), got(os.rename, "d/m", "x"), got(os.mkdir, "d/m"), got(os.rename, "d/m/inside", "inside"),
                  got(os.link, "d/m/inside", "inside"), os.stat("d/m").st_dev != os.stat("d").st_dev, got(os.rename, "d", "e"), names("e/m")]
        put("file")
        put("over")
        call("mount", b"file", b"over", None, 0x1000, None)
        result += [got(os.unlink, "over"), got(os.rename, "over", "y"), got(os.rename, "file", "over")]
        return result
    return in_child(run)


@check
def descriptors_travel_through_sockets():
    put("f", b"content")
    one, other = socket.socketpair()

    def receive():
        _, received, _, _ = socket.recv_fds(other, 10, 1)
        os.pwrite(received[0], b"CON", 0)
        return os.fstat(received[0]).st_size
    descriptor = os.open("f", os.O_RDWR)
    child = Child(receive)
    socket.send_fds(one, [b"x"], [descriptor])
    os.close(descriptor)
    return [child.result(), content("f")]


@check
def poll_and_select_of_files():
    put("f", b"content")
    descriptor = os.open("f", os.O_RDWR)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLOUT | select.POLLPRI)
    ready = poll.poll(0)
    return [[event for _, event in ready], len(select.select([descriptor], [descriptor], [], 0)[0])]


@check
def epoll_of_a_plain_file():
    put("f", b"content")
    return got(select.epoll().register, os.open("f", os.O_RDWR))
