"""Holes, preallocation, truncation, large offsets, limits, statfs."""
import errno
import os
import resource
import signal

from posix_check import Child, call, check, content, got, in_child, put, value

KEEP, PUNCH, COLLAPSE, ZERO, INSERT, UNSHARE = 1, 2, 8, 16, 32, 64
MIB = 1 << 20


def allocate(descriptor, mode, offset, length):
    return call("fallocate", descriptor, mode, offset, length)


def opened(data=b"", flags=os.O_RDWR):
    put("f", data)
    return os.open("f", flags)


def synchronize(path):
    """Syncs a file, because some file systems count blocks only when they allocate them."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def extents(descriptor):
    """Returns the extents of data that SEEK_DATA and SEEK_HOLE report."""
    found, at, end = [], 0, os.fstat(descriptor).st_size
    while at < end:
        try:
            data = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError:
            break
        at = os.lseek(descriptor, data, os.SEEK_HOLE)
        found.append([data, at])
    return found


@check
def seek_data_and_hole():
    descriptor = opened()
    result = [got(os.lseek, descriptor, 0, os.SEEK_DATA), got(os.lseek, descriptor, 0, os.SEEK_HOLE)]
    os.pwrite(descriptor, b"a" * 4096, 0)
    os.pwrite(descriptor, b"b" * 8192, MIB)
    os.pwrite(descriptor, b"c", 3 * MIB - 1)
    result.append(extents(descriptor))
    for at in (0, 4095, 4096, MIB - 1, MIB, MIB + 8192, 2 * MIB, 3 * MIB - 1, 3 * MIB, 4 * MIB, -1):
        result.append([at, value(os.lseek, descriptor, at, os.SEEK_DATA), value(os.lseek, descriptor, at, os.SEEK_HOLE)])
    os.ftruncate(descriptor, 5 * MIB)
    result.append(extents(descriptor))
    os.ftruncate(descriptor, MIB + 4096)
    return result + [extents(descriptor), os.lseek(descriptor, 0, os.SEEK_CUR)]


@check
def seek_data_after_each_change():
    descriptor, result = opened(b"x" * MIB), []
    for action in (lambda: allocate(descriptor, PUNCH | KEEP, 65536, 65536), lambda: os.pwrite(descriptor, b"y", 100_000),
                   lambda: os.ftruncate(descriptor, 2 * MIB), lambda: os.pwrite(descriptor, b"z" * 4096, 2 * MIB - 4096),
                   lambda: allocate(descriptor, PUNCH | KEEP, 0, 3 * MIB), lambda: os.ftruncate(descriptor, 0)):
        action()
        result.append(extents(descriptor))
    return result


@check
def seek_data_when_dense():
    result = []
    for size in (0, 1, 4095, 4096, 4097, 100_000):
        descriptor = opened(b"x" * size)
        result.append([size, value(os.lseek, descriptor, 0, os.SEEK_DATA), value(os.lseek, descriptor, 0, os.SEEK_HOLE),
                       value(os.lseek, descriptor, size, os.SEEK_HOLE)])
    return result


@check
def fallocate_modes():
    result = []
    for mode in (0, KEEP, PUNCH, PUNCH | KEEP, ZERO, ZERO | KEEP, PUNCH | ZERO, 128, PUNCH | KEEP | ZERO):
        for offset, length in ((0, 10_000), (5000, 3000), (18_000, 10_000), (30_000, 5000), (0, 0), (-1, 10), (10, -1)):
            descriptor = opened(b"x" * 20_000)
            outcome = got(allocate, descriptor, mode, offset, length)
            data = content("f")
            result.append([mode, offset, length, outcome, len(data), data.count(b"x")])
            os.close(descriptor)
    return result


@check
def fallocate_collapse_and_insert():
    result = []
    for mode in (COLLAPSE, INSERT):
        descriptor = opened(b"x" * 20_480)
        result.append([mode, got(allocate, descriptor, mode, 4096, 4096)])
    return result


@check
def fallocate_unshare():
    return got(allocate, opened(b"x" * 20_480), UNSHARE, 0, 4096)


@check
def fallocate_on_the_wrong_thing():
    descriptor = opened(b"x")
    os.mkdir("d")
    os.mkfifo("p")
    return [got(allocate, os.open("f", os.O_RDONLY), 0, 0, 10), got(allocate, os.open("d", os.O_RDONLY), 0, 0, 10),
            got(allocate, os.open("p", os.O_RDWR), 0, 0, 10), got(allocate, descriptor, 0, (1 << 63) - 10, 20),
            got(allocate, os.open("f", os.O_RDWR | os.O_APPEND), PUNCH | KEEP, 0, 1), got(allocate, os.open("f", os.O_PATH), 0, 0, 1),
            got(os.posix_fallocate, descriptor, 0, 0), got(os.posix_fallocate, descriptor, 5, 100), os.stat("f").st_size]


@check
def fallocate_then_read_and_write():
    descriptor = os.open("f", os.O_RDWR | os.O_CREAT)
    allocate(descriptor, 0, 0, MIB)
    result = [os.fstat(descriptor).st_size, content("f") == bytes(MIB), os.fstat(descriptor).st_blocks >= 2048]
    os.pwrite(descriptor, b"data", 500_000)
    allocate(descriptor, KEEP, 0, 4 * MIB)
    result += [os.fstat(descriptor).st_size, os.fstat(descriptor).st_blocks >= 8192]
    os.pwrite(descriptor, b"end", 3 * MIB)
    os.ftruncate(descriptor, 500_002)
    os.ftruncate(descriptor, 600_000)
    return result + [os.pread(descriptor, 6, 500_000), os.fstat(descriptor).st_size, content("f").count(b"\0")]


@check
def truncate_shows_no_old_bytes():
    descriptor, result = opened(b"secret" * 10_000), []
    for shorter, longer in ((10, 5000), (4096, 8192), (4097, 4200), (1, 60_000), (0, 4096)):
        os.ftruncate(descriptor, shorter)
        os.ftruncate(descriptor, longer)
        result.append([content("f")[shorter:] == bytes(longer - shorter), content("f")[:shorter] == (b"secret" * 10_000)[:shorter]])
        os.pwrite(descriptor, b"secret" * 10_000, 0)
    os.ftruncate(descriptor, 10)
    os.pwrite(descriptor, b"x", 5000)
    return result + [content("f")[10:5000] == bytes(4990)]


@check
def truncate_errors():
    descriptor = opened(b"x")
    result = [got(os.ftruncate, descriptor, size) for size in (-1, 1 << 62, (1 << 63) - 1, (1 << 44) + 1)]
    result += [got(os.truncate, "f", size) for size in (-1, 1 << 62, (1 << 63) - 1)]
    return result + [got(os.ftruncate, os.open("f", os.O_RDONLY), 0), os.stat("f").st_size, os.pread(descriptor, 9, 0)]


@check
def large_file_offsets():
    """Offsets beyond 2 GiB, 4 GiB and 1 TiB work for reads, writes, mappings, seeks and truncation."""
    import mmap
    descriptor, result = os.open("f", os.O_RDWR | os.O_CREAT), []
    for at in ((1 << 31) - 2, (1 << 32) - 2, (1 << 32) + 5, 1 << 40):
        os.pwrite(descriptor, b"%d" % at, at)
        result.append([os.pread(descriptor, 20, at), os.fstat(descriptor).st_size, os.lseek(descriptor, at, os.SEEK_DATA) <= at])
    with mmap.mmap(descriptor, 8192, offset=(1 << 32)) as memory:
        result.append(memory[5:10])
        memory[4096:4098] = b"mm"
    result += [os.pread(descriptor, 2, (1 << 32) + 4096), len(extents(descriptor))]
    os.lseek(descriptor, 1 << 41, os.SEEK_SET)
    os.write(descriptor, b"end")
    result += [os.lseek(descriptor, 0, os.SEEK_CUR), os.lseek(descriptor, -3, os.SEEK_END)]
    os.ftruncate(descriptor, (1 << 32) + 1)
    return result + [os.fstat(descriptor).st_size, os.pread(descriptor, 9, 1 << 32)]


@check
def large_offsets_that_are_too_large():
    """Offsets past ext4's maximum file size are EFBIG, and offsets past the largest number are EINVAL."""
    descriptor = opened(b"x")
    most = (1 << 44) - 4096
    return [value(os.pwrite, descriptor, b"abcdef", most - 3), got(os.pwrite, descriptor, b"x", most), got(os.pwrite, descriptor, b"x", (1 << 63) - 1),
            got(os.pwrite, descriptor, b"xyz", (1 << 63) - 2), value(os.pread, descriptor, 5, 1 << 50), got(allocate, descriptor, 0, 1 << 60, 10),
            os.fstat(descriptor).st_size == most]


@check
def large_seek_past_what_is_possible():
    return value(os.lseek, opened(b"x"), 1 << 50, os.SEEK_SET)


@check
def large_offsets_of_nothing():
    """Copies of no bytes from or to offsets beyond every file."""
    source = opened(b"x")
    target = os.open("target", os.O_RDWR | os.O_CREAT)
    return [value(os.copy_file_range, source, target, 0, 0, 1 << 44), value(os.copy_file_range, source, target, 10, 1 << 32, 1 << 44),
            value(os.sendfile, target, source, 1 << 44, 10)]


@check
def limit_of_file_size():
    """Under RLIMIT_FSIZE, a write takes the bytes that fit, and then fails with SIGXFSZ or EFBIG."""
    def run():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        descriptor = os.open("f", os.O_RDWR | os.O_CREAT)
        result = [os.write(descriptor, b"x" * 20_000)]
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        result += [got(os.write, descriptor, b"y"), got(os.ftruncate, descriptor, 10_001), got(os.ftruncate, descriptor, 10_000),
                   got(allocate, descriptor, 0, 0, 20_000), os.pwrite(descriptor, b"z" * 9000, 5000), os.fstat(descriptor).st_size]
        reader, writer = os.pipe()
        os.write(writer, b"x" * 100)
        result.append(got(os.splice, reader, descriptor, 100, offset_dst=10_000))
        return result

    def die():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        descriptor = os.open("g", os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, b"x" * 1000)
        os.write(descriptor, b"y")
    return [in_child(run), Child(die).result(), os.stat("g").st_size]


@check
def sizes_of_files_and_blocks():
    """Blocks are counted whole, and an empty file has none."""
    result = []
    for size in (0, 1, 4096, 4097, 50_000):
        put("f", b"x" * size)
        synchronize("f")
        status = os.stat("f")
        result.append([status.st_size, status.st_blocks, status.st_blksize])
    descriptor = os.open("f", os.O_RDWR)
    os.ftruncate(descriptor, 10 * MIB)
    result.append(os.fstat(descriptor).st_blocks)
    allocate(descriptor, PUNCH | KEEP, 0, 8192)
    os.fsync(descriptor)
    return result + [os.fstat(descriptor).st_blocks]


@check
def statfs_fields():
    status = os.statvfs(".")
    return [status.f_bsize, status.f_frsize, status.f_namemax, status.f_bavail <= status.f_bfree <= status.f_blocks,
            os.fstatvfs(os.open(".", os.O_RDONLY)).f_frsize]


@check
def statfs_counts_files():
    status = os.statvfs(".")
    return [status.f_files > 0, status.f_ffree > 0]


@check
def statfs_follows_what_is_written():
    """Free space follows writes. Other programs use the plain side's disk too, so the numbers may need several attempts to
    agree."""
    def agrees():
        before = os.statvfs(".")
        put("f", b"x" * 4 * MIB)
        synchronize("f")
        taken = (before.f_bfree - os.statvfs(".").f_bfree) * before.f_frsize
        os.unlink("f")
        return 4 * MIB <= taken < 5 * MIB
    return any(agrees() for _ in range(200))


@check
def blocks_of_directories():
    os.mkdir("d")
    return os.stat("d").st_blocks


@check
def blocks_of_what_has_no_content():
    os.symlink("x", "l")
    os.mkfifo("p")
    os.mknod("s", 0o140644)
    return [[os.lstat(name).st_blocks, os.lstat(name).st_size] for name in "lps"] + [os.stat(".").st_size]


@check
def write_in_small_and_large_pieces():
    data = os.urandom(3 * MIB + 17)
    descriptor, at = os.open("f", os.O_RDWR | os.O_CREAT), 0
    for size in (1, 2, 511, 4096, 4097, 131_072, 131_073, MIB, MIB + 1, 10_000_000):
        piece = data[at:at + size]
        while piece:
            written = os.write(descriptor, piece)
            piece, at = piece[written:], at + written
    return [at == len(data), content("f") == data, os.pread(descriptor, 100, 2 * MIB) == data[2 * MIB:2 * MIB + 100]]
