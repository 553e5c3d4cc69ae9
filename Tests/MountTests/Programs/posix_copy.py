"""Ways to move bytes: copy_file_range, sendfile, splice, vectors with flags, reflinks."""
import errno
import fcntl
import os

from posix_check import call, check, content, got, put, value

DATA = bytes(range(256)) * 4000  # 1,024,000 bytes


def pair(size=len(DATA)):
    put("source", DATA[:size])
    return os.open("source", os.O_RDWR), os.open("target", os.O_RDWR | os.O_CREAT)


@check
def copy_range_whole_and_parts():
    source, target = pair()
    result = []
    for length, at, to in ((1 << 20, 0, 0), (10, 5, 100), (4096, 4096, 2_000_000), (100_000, 999_999, 50), (10, 1_024_000, 0), (0, 0, 0)):
        done = 0
        while done < length:
            count = os.copy_file_range(source, target, length - done, at + done, to + done)
            if count == 0:
                break
            done += count
        result.append([done, os.pread(target, done, to) == DATA[at:at + done], os.fstat(target).st_size])
    return result + [os.lseek(source, 0, os.SEEK_CUR), os.lseek(target, 0, os.SEEK_CUR)]


@check
def copy_range_by_position():
    source, target = pair(10_000)
    os.lseek(source, 100, os.SEEK_SET)
    os.lseek(target, 7, os.SEEK_SET)
    first = os.copy_file_range(source, target, 500)
    second = os.copy_file_range(source, target, 500, offset_src=0)
    return [first, second, os.lseek(source, 0, os.SEEK_CUR), os.lseek(target, 0, os.SEEK_CUR), content("target")[7:507] == DATA[100:600]]


@check
def copy_range_within_one_file():
    put("f", DATA[:50_000])
    descriptor = os.open("f", os.O_RDWR)
    return [value(os.copy_file_range, descriptor, descriptor, length, at, to) for length, at, to in (
        (1000, 0, 10_000), (1000, 0, 500), (1000, 500, 0), (100, 0, 0), (5000, 45_000, 60_000))] + [
            os.fstat(descriptor).st_size, content("f")[10_000:11_000] == DATA[:1000]]


@check
def copy_range_errors():
    source, target = pair(1000)
    os.mkdir("d")
    os.mkfifo("p")
    reader, writer = os.pipe()
    copy = lambda a, b, **more: got(os.copy_file_range, a, b, 10, **more)
    return [copy(os.open("source", os.O_WRONLY), target), copy(source, os.open("target", os.O_RDONLY)),
            copy(source, os.open("target", os.O_WRONLY | os.O_APPEND)), copy(os.open("d", os.O_RDONLY), target),
            copy(source, os.open("p", os.O_RDWR)), copy(reader, target), copy(source, target, offset_dst=-1),
            copy(source, target, offset_src=-1), got(lambda: call("copy_file_range", source, None, target, None, 10, 1))]


@check
def copy_range_of_holes():
    source = os.open("source", os.O_RDWR | os.O_CREAT)
    os.ftruncate(source, 500_000)
    os.pwrite(source, b"island", 200_000)
    target, done = os.open("target", os.O_RDWR | os.O_CREAT), 0
    while count := os.copy_file_range(source, target, 1 << 20, done, done):
        done += count
    return [done, content("target") == content("source"), os.fstat(target).st_size]


@check
def copy_range_to_another_file_system():
    source, _ = pair(100_000)
    path = f"/dev/shm/posix-{os.getpid()}"
    other = os.open(path, os.O_RDWR | os.O_CREAT)
    os.unlink(path)
    try:
        count = os.copy_file_range(source, other, 50_000, 0, 0)
    except OSError as error:
        return errno.errorcode[error.errno]
    return [count, os.pread(other, 50_000, 0) == DATA[:50_000]]


@check
def copy_range_sees_mapped_bytes():
    import mmap
    source, target = pair(100_000)
    with mmap.mmap(source, 0) as memory:
        memory[5000:5006] = b"MAPPED"
        os.copy_file_range(source, target, 100_000, 0, 0)
    return [os.pread(target, 6, 5000), content("target")[:5000] == DATA[:5000]]


@check
def sendfile_to_file_and_pipe():
    source, target = pair()
    result, sent = [], 0
    while sent < len(DATA):
        count = os.sendfile(target, source, sent, len(DATA) - sent)
        if count == 0:
            break
        sent += count
    result.append([sent, content("target") == DATA])
    reader, writer = os.pipe()
    result.append([os.sendfile(writer, source, 1000, 3000), os.read(reader, 5000) == DATA[1000:4000]])
    return result + [os.sendfile(writer, source, len(DATA), 10), got(os.sendfile, source, reader, None, 10)]


@check
def splice_both_ways():
    source, target = pair()
    reader, writer = os.pipe()
    moved = 0
    while moved < 300_000:
        count = os.splice(source, writer, 50_000)
        left = count
        while left:
            left -= os.splice(reader, target, left)
        moved += count
    result = [moved >= 300_000, content("target") == DATA[:moved], os.lseek(source, 0, os.SEEK_CUR) == moved]
    os.splice(source, writer, 100, offset_src=0)
    os.splice(reader, target, 100, offset_dst=5)
    appender = os.open("target", os.O_WRONLY | os.O_APPEND)
    os.write(writer, b"abc")
    return result + [os.pread(target, 100, 5) == DATA[:100], got(os.splice, reader, appender, 3), got(os.splice, source, target, 10)]


@check
def tee_and_vmsplice_into_a_file():
    _, target = pair(10)
    reader, writer = os.pipe()
    again, copy = os.pipe()
    os.write(writer, b"tee'd")
    result = [call("tee", reader, copy, 100, 0)]
    os.splice(reader, target, 5)
    os.splice(again, target, 5)
    return result + [content("target")]


@check
def vectors():
    source, _ = pair(10_000)
    buffers = [bytearray(10), bytearray(0), bytearray(4096), bytearray(10_000)]
    result = [os.preadv(source, buffers, 100), bytes(buffers[0]) == DATA[100:110], bytes(buffers[2]) == DATA[110:4206]]
    result += [os.pwritev(source, [b"a" * 10, b"", b"b" * 5000], 20_000), os.fstat(source).st_size, os.readv(source, [bytearray(5)])]
    return result + [os.writev(source, [b"x"] * 1000), content("source")[5:1005] == b"x" * 1000, got(os.writev, source, [b"x"] * 1025)]


def vector_flag(flag):
    source, _ = pair(10_000)
    buffer = bytearray(100)
    return [value(os.preadv, source, [buffer], 0, flag), value(os.pwritev, source, [b"abc"], 0, flag), os.pread(source, 3, 0)]


@check
def vector_flag_high_priority():
    return vector_flag(os.RWF_HIPRI)


@check
def vector_flag_sync():
    return [vector_flag(os.RWF_SYNC)[1:], vector_flag(os.RWF_DSYNC)[1:]]


@check
def vector_flag_append():
    source, _ = pair(1000)
    os.pwritev(source, [b"end"], 5, os.RWF_APPEND)
    return [os.fstat(source).st_size, content("source")[-3:], content("source")[5:8] == DATA[5:8]]


@check
def vector_flag_no_wait_reads():
    """A read with RWF_NOWAIT of bytes in the page cache. The kernel does not offer the flag on FUSE."""
    source, _ = pair(10_000)
    os.pread(source, 10_000, 0)
    return value(os.preadv, source, [bytearray(100)], 0, os.RWF_NOWAIT)


@check
def vector_flag_unknown():
    source, _ = pair(1000)
    return [value(os.preadv, source, [bytearray(10)], 0, 1 << 30), value(os.pwritev, source, [b"x"], 0, 1 << 30)]


@check
def reflinks():
    source, target = pair(8192)
    FICLONE = 0x40049409
    return got(fcntl.ioctl, target, FICLONE, source)


@check
def ioctl_of_files():
    source, _ = pair(8192)
    FIONREAD, FIGETBSZ = 0x541B, 2
    return [got(fcntl.ioctl, source, 0x12345678, 0), int.from_bytes(fcntl.ioctl(source, FIGETBSZ, bytes(4)), "little"),
            int.from_bytes(fcntl.ioctl(source, FIONREAD, bytes(4)), "little"), got(fcntl.ioctl, source, 0x5451)]


@check
def ioctl_of_inode_flags():
    source, _ = pair(10)
    FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x80086601, 0x40086602
    flags = bytearray(8)
    return [got(fcntl.ioctl, source, FS_IOC_GETFLAGS, flags), got(fcntl.ioctl, source, FS_IOC_SETFLAGS, flags)]


@check
def ioctl_of_extents():
    source, _ = pair(10)
    FS_IOC_FIEMAP = 0xC020660B
    return got(fcntl.ioctl, source, FS_IOC_FIEMAP, bytearray(bytes(8) + b"\xff" * 7 + b"\x7f" + bytes(16)))


@check
def handle_of_a_file():
    """Calls name_to_handle_at(2), which NFS servers and fanotify need."""
    import ctypes
    put("f")
    buffer = ctypes.create_string_buffer((128).to_bytes(4, "little") + bytes(200), 204)
    mount_id = ctypes.c_int()
    return got(lambda: call("name_to_handle_at", -100, b"f", buffer, ctypes.byref(mount_id), 0))


@check
def birth_time():
    """statx(2) has STATX_BTIME, the time of the creation, which utimensat(2) does not change."""
    import ctypes
    put("f")
    os.utime("f", (1, 1))
    buffer = ctypes.create_string_buffer(256)
    call("statx", -100, b"f", 0, 0xFFF, buffer)
    mask = int.from_bytes(buffer.raw[0:4], "little")
    born = int.from_bytes(buffer.raw[80:88], "little")
    return [bool(mask & 0x800), abs(born - os.stat("f").st_ctime) < 100]


@check
def statx_of_basics():
    import ctypes
    put("f", b"content", 0o640)
    os.symlink("f", "l")
    result = []
    for path, flags, mask in ((b"f", 0, 0x7FF), (b"l", 0x100, 0x7FF), (b"f", 0x4000, 0x7FF), (b"f", 0x2000, 0x200), (b"", 0x1000, 0x7FF), (b"", 0, 0x7FF), (b"f", 1 << 20, 0x7FF)):
        buffer = ctypes.create_string_buffer(256)
        outcome = got(lambda: call("statx", -100, path, flags, mask, buffer))
        raw = buffer.raw
        result.append([outcome, int.from_bytes(raw[0:4], "little") & mask, int.from_bytes(raw[28:30], "little"),
                       int.from_bytes(raw[40:48], "little") if path != b"" else 0])
    return result
