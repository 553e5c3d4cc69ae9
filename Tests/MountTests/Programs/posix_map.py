"""Mappings: coherence with read and write through other descriptors, the end of the file, msync."""
import ctypes
import mmap
import os
import signal

from posix_check import Child, call, check, content, eventually, got, in_child, put, value

PAGE = 4096


def opened(size=3 * PAGE, flags=os.O_RDWR):
    put("f", bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    return os.open("f", flags)


@check
def map_shared_sees_and_shows_writes():
    descriptor = opened()
    other, appender = os.open("f", os.O_RDWR), os.open("f", os.O_RDONLY)
    memory = mmap.mmap(descriptor, 0)
    result = []
    for turn in range(40):
        at = turn * 300
        memory[at:at + 3] = b"MAP"
        result.append([os.pread(other, 3, at), os.pread(appender, 3, at), content("f")[at:at + 3]])
        os.pwrite(other, b"WRITE", at)
        result.append(bytes(memory[at:at + 5]))
    return result


@check
def map_shared_between_processes():
    descriptor = opened()
    memory = mmap.mmap(descriptor, 0)

    def other():
        mine = mmap.mmap(os.open("f", os.O_RDWR), 0)
        seen = mine[0:5]
        mine[PAGE:PAGE + 5] = b"child"
        os.pwrite(os.open("f", os.O_WRONLY), b"wrote", 2 * PAGE)
        return seen
    memory[0:5] = b"first"
    return [in_child(other), memory[PAGE:PAGE + 5], memory[2 * PAGE:2 * PAGE + 5], content("f")[PAGE:PAGE + 5]]


@check
def map_private_stays_private():
    descriptor = opened()
    memory = mmap.mmap(descriptor, 0, flags=mmap.MAP_PRIVATE)
    memory[0:4] = b"MINE"
    os.pwrite(descriptor, b"THEIRS", PAGE)
    result = [content("f")[:4], memory[0:4], memory[PAGE:PAGE + 6]]
    readonly = mmap.mmap(os.open("f", os.O_RDONLY), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    readonly[0:3] = b"abc"
    return result + [readonly[0:3], content("f")[:4]]


@check
def map_needs_the_right_descriptor():
    opened()
    result = []
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_PATH):
        descriptor = os.open("f", flags)
        for kind in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
            for prot in (mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ | mmap.PROT_EXEC):
                result.append(got(map_raw, descriptor, PAGE, prot, kind))
    os.mkdir("d")
    result.append(got(map_raw, os.open("d", os.O_RDONLY), PAGE, mmap.PROT_READ, mmap.MAP_SHARED))
    result.append(got(map_raw, os.open("f", os.O_RDONLY), PAGE, mmap.PROT_READ, mmap.MAP_SHARED, 100))
    return result


def map_raw(descriptor, length, prot, flags, offset=0):
    address = call("mmap", None, length, prot, flags, descriptor, offset)
    call("munmap", ctypes.c_void_p(address), length)


def touched(action):
    """Returns the action's value, or the signal that ended it (SIGBUS or SIGSEGV)."""
    return Child(action).result()


@check
def map_beyond_the_end():
    """The rest of the last page is zero and not written back. Access to the next page is SIGBUS."""
    descriptor = opened(PAGE + 100)
    memory = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    raw = map_keep(descriptor, 4 * PAGE)
    result = [ctypes.string_at(raw + PAGE + 100, PAGE - 100) == bytes(PAGE - 100)]
    ctypes.memset(raw + PAGE + 100, 65, 50)
    result += [os.fstat(descriptor).st_size, touched(lambda: ctypes.string_at(raw + 2 * PAGE, 1))]
    result += [touched(lambda: ctypes.memset(raw + 3 * PAGE, 1, 1) and True)]
    memory.flush()
    os.ftruncate(descriptor, 3 * PAGE)
    result += [ctypes.string_at(raw + 2 * PAGE, 4), touched(lambda: ctypes.string_at(raw + 3 * PAGE, 1))]
    return result + [content("f")[PAGE + 100:] == bytes(2 * PAGE - 100)]


def map_keep(descriptor, length, prot=3, flags=mmap.MAP_SHARED):
    return call("mmap", None, length, prot, flags, descriptor, 0)


@check
def map_stored_beyond_the_end_then_grown():
    """A file grows over bytes that a mapping has stored past its end and not written back."""
    def grow(how):
        descriptor = opened(PAGE + 100)
        raw = map_keep(descriptor, 2 * PAGE)
        ctypes.memset(raw + PAGE + 200, 65, 10)
        how(descriptor)
        return [os.pread(descriptor, 10, PAGE + 200), content("f")[PAGE + 200:PAGE + 210]]
    return [grow(lambda descriptor: os.ftruncate(descriptor, 3 * PAGE)),
            grow(lambda descriptor: os.pwrite(descriptor, b"x", 2 * PAGE)),
            grow(lambda descriptor: os.posix_fallocate(descriptor, PAGE + 100, PAGE))]


@check
def map_of_a_truncated_file():
    descriptor = opened(3 * PAGE)
    raw = map_keep(descriptor, 3 * PAGE)
    ctypes.memset(raw, 66, 3 * PAGE)
    os.ftruncate(descriptor, 10)
    result = [ctypes.string_at(raw, 12), touched(lambda: ctypes.string_at(raw + PAGE, 1)), content("f")]
    os.ftruncate(descriptor, 3 * PAGE)
    result += [ctypes.string_at(raw, 12), ctypes.string_at(raw + PAGE, 2), content("f")[:12]]
    os.truncate("f", 0)
    result += [touched(lambda: ctypes.string_at(raw, 1))]
    os.pwrite(descriptor, b"again", 0)
    return result + [ctypes.string_at(raw, 6)]


@check
def map_of_a_file_that_grows():
    descriptor = opened(PAGE)
    raw = map_keep(descriptor, 4 * PAGE)
    os.pwrite(descriptor, b"grown", 2 * PAGE)
    result = [ctypes.string_at(raw + 2 * PAGE, 6), ctypes.string_at(raw + PAGE, 2)]
    ctypes.memset(raw + 3 * PAGE - 1, 67, 1)
    return result + [os.fstat(descriptor).st_size, content("f")[-6:]]


@check
def map_survives_close_and_unlink():
    descriptor = opened()
    memory = mmap.mmap(descriptor, 0)
    os.close(descriptor)
    memory[5:9] = b"last"
    result = [content("f")[5:9]]
    os.unlink("f")
    memory[5:9] = b"LAST"
    memory.flush()
    return result + [memory[5:9], memory[-1]]


@check
def map_of_a_hole():
    descriptor = os.open("f", os.O_RDWR | os.O_CREAT)
    os.ftruncate(descriptor, 100 * PAGE)
    memory = mmap.mmap(descriptor, 0)
    result = [memory[50 * PAGE], memory[-1]]
    memory[70 * PAGE] = 9
    memory.flush()
    return result + [os.pread(descriptor, 2, 70 * PAGE), content("f").count(b"\0"), os.fstat(descriptor).st_size]


@check
def map_punched_under():
    descriptor = opened(4 * PAGE)
    memory = mmap.mmap(descriptor, 0)
    memory[PAGE:PAGE + 4] = b"gone"
    call("fallocate", descriptor, 3, PAGE, PAGE)
    result = [memory[PAGE:PAGE + 4], memory[PAGE - 1], memory[2 * PAGE + 1], os.pread(descriptor, 4, PAGE)]
    memory[PAGE:PAGE + 4] = b"back"
    return result + [os.pread(descriptor, 5, PAGE)]


@check
def map_sync():
    descriptor = opened()
    memory = mmap.mmap(descriptor, 0)
    raw = map_keep(descriptor, 3 * PAGE)
    memory[0:2] = b"ab"
    return [got(lambda: call("msync", ctypes.c_void_p(raw + at), length, flags))
            for at, length, flags in ((0, PAGE, 4), (0, PAGE, 1), (0, 3 * PAGE, 2), (1, PAGE, 4), (0, PAGE, 5), (0, 9 * PAGE, 4), (0, PAGE, 64))] + [
                got(os.fsync, descriptor), content("f")[:2]]


@check
def map_of_an_empty_file():
    descriptor = os.open("f", os.O_RDWR | os.O_CREAT)
    raw = map_keep(descriptor, PAGE)
    result = [touched(lambda: ctypes.string_at(raw, 1))]
    os.write(descriptor, b"now")
    return result + [ctypes.string_at(raw, 3), got(mmap.mmap, descriptor, 0) if False else "", os.fstat(descriptor).st_size]


@check
def map_read_only_while_others_write():
    """A mapping for reading sees writes through descriptors opened before or after it."""
    put("f", b"a" * 300_000)
    early = os.open("f", os.O_RDWR)
    reader = os.open("f", os.O_RDONLY)
    memory = mmap.mmap(reader, 0, prot=mmap.PROT_READ)
    result = [memory[0:1], memory[200_000:200_001]]
    late = os.open("f", os.O_RDWR)
    os.pwrite(early, b"b", 0)
    os.pwrite(late, b"c", 200_000)
    result += [memory[0:1], memory[200_000:200_001], os.pread(reader, 1, 200_000)]
    shared = mmap.mmap(late, 0)
    shared[100_000:100_001] = b"d"
    return result + [memory[100_000:100_001], os.pread(early, 1, 100_000), os.pread(reader, 1, 100_000)]


@check
def map_opened_for_reading_first():
    """Large files opened only for reading may be passed through. The mapping still sees later writers."""
    put("f", b"a" * 300_000)
    reader = os.open("f", os.O_RDONLY)
    memory = mmap.mmap(reader, 0, prot=mmap.PROT_READ)
    result = [memory[0:1], memory[200_000:200_001]]
    writer = os.open("f", os.O_RDWR)
    os.pwrite(writer, b"b", 0)
    shared = mmap.mmap(writer, 0)
    shared[200_000:200_001] = b"c"
    result += [memory[0:1], memory[200_000:200_001], os.pread(reader, 1, 0), os.pread(writer, 1, 200_000)]
    os.ftruncate(writer, 400_000)
    os.pwrite(writer, b"d", 399_999)
    result += [os.pread(reader, 9, 399_998), os.fstat(reader).st_size]
    os.close(writer)
    del shared
    again = os.open("f", os.O_RDONLY)
    return result + [os.pread(again, 1, 200_000), os.pread(again, 1, 0), content("f")[-2:]]


@check
def map_read_into_and_write_out_of_itself():
    """read(2) into and write(2) from a mapping of the same file do not deadlock, and move the right bytes."""
    descriptor = opened(4 * PAGE)
    memory = mmap.mmap(descriptor, 0)
    os.preadv(descriptor, [memoryview(memory)[PAGE:2 * PAGE]], 0)
    os.pwrite(descriptor, memoryview(memory)[:PAGE], 3 * PAGE)
    os.pwrite(descriptor, memoryview(memory)[100:PAGE + 100], 0)
    return [content("f")[PAGE:PAGE + 300] == bytes(range(256)) + bytes(range(44)), len(content("f")), content("f")[:10]]


@check
def map_with_direct_descriptor():
    put("f", b"a" * 4 * PAGE)
    descriptor = os.open("f", os.O_RDWR | os.O_DIRECT)
    memory = mmap.mmap(descriptor, 0)
    buffer = mmap.mmap(-1, PAGE)
    result = []
    for turn in range(10):
        memory[turn * 10:turn * 10 + 3] = b"map"
        os.preadv(descriptor, [buffer], 0)
        result.append(buffer[turn * 10:turn * 10 + 3])
        buffer[:] = bytes([turn]) * PAGE
        os.pwritev(descriptor, [buffer], PAGE)
        result.append(memory[PAGE + 5] == turn)
    return result


@check
def map_written_back_when_the_process_dies():
    descriptor = opened()
    ready, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        memory = mmap.mmap(descriptor, 0)
        memory[0:5] = b"dying"
        os.write(go, b"x")
        signal.pause()
    os.read(ready, 1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return [content("f")[:6], os.pread(descriptor, 5, 0)]


@check
def map_locked_and_advised():
    descriptor = opened()
    memory = mmap.mmap(descriptor, 0)
    result = [got(memory.madvise, advice) for advice in (mmap.MADV_DONTNEED, mmap.MADV_WILLNEED, mmap.MADV_SEQUENTIAL)]
    memory[0:3] = b"abc"
    result += [got(memory.madvise, mmap.MADV_DONTNEED), memory[0:3], got(lambda: call("readahead", descriptor, 0, PAGE))]
    return result + [got(os.posix_fadvise, descriptor, 0, 0, advice) for advice in range(6)]
