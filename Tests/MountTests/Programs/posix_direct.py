"""O_DIRECT: alignment, the end of the file, use alongside buffered descriptors, appending, and asynchronous I/O."""
import ctypes
import fcntl
import mmap
import os
import struct
import threading

from posix_check import call, check, content, got, put, together, value

PAGE = 4096


def aligned(data):
    """Returns the data in page-aligned memory."""
    memory = mmap.mmap(-1, max(len(data), 1))
    memory[:len(data)] = data
    return memory


@check
def direct_aligned():
    memory = mmap.mmap(-1, 65536)
    memory[:] = bytes(range(256)) * 256
    descriptor = os.open("f", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    result = [os.write(descriptor, memory), os.lseek(descriptor, 4096, os.SEEK_SET), os.write(descriptor, memory)]
    into = mmap.mmap(-1, 65536)
    result += [os.preadv(descriptor, [into], 4096), into[:] == memory[:], os.preadv(descriptor, [into], 65536), into[:4096] == memory[-4096:]]
    result += [os.preadv(descriptor, [into], 69632), os.preadv(descriptor, [into], 1 << 20)]
    return result + [content("f") == bytes(memory[:4096]) + bytes(memory[:])]


@check
def direct_beside_buffered():
    """Each descriptor sees at once what the other wrote."""
    put("f", b"0" * 16384)
    direct, buffered = os.open("f", os.O_RDWR | os.O_DIRECT), os.open("f", os.O_RDWR)
    memory, into, result = mmap.mmap(-1, 4096), mmap.mmap(-1, 4096), []
    for turn in range(20):
        memory[:] = bytes([turn]) * 4096
        os.pwritev(direct, [memory], 4096 * (turn % 4))
        result.append(os.pread(buffered, 4096, 4096 * (turn % 4)) == memory[:])
        os.pwrite(buffered, bytes([turn + 100]) * 4096, 4096 * ((turn + 1) % 4))
        os.preadv(direct, [into], 4096 * ((turn + 1) % 4))
        result.append(into[:] == bytes([turn + 100]) * 4096)
    return result


@check
def direct_toggled_later():
    put("f", b"x" * 8192)
    descriptor = os.open("f", os.O_RDWR)
    memory = mmap.mmap(-1, 4096)
    result = [got(fcntl.fcntl, descriptor, fcntl.F_SETFL, os.O_DIRECT), os.pwritev(descriptor, [memory], 4096)]
    result.append(got(fcntl.fcntl, descriptor, fcntl.F_SETFL, 0))
    return result + [content("f") == b"x" * 4096 + bytes(4096)]


def shifted(length, by):
    return memoryview(mmap.mmap(-1, length + PAGE))[by:by + length]


# Offset, length, and the memory's distance from the start of a page.
UNALIGNED = {"offset": (100, PAGE, 0), "length": (0, 100, 0), "memory": (0, PAGE, 7), "all": (9, 99, 3)}


@check
def direct_unaligned_is_refused():
    put("f", b"x" * 10_000)
    descriptor = os.open("f", os.O_RDWR | os.O_DIRECT)
    result = {}
    for name, (at, length, by) in UNALIGNED.items():
        result[name] = [got(os.preadv, descriptor, [shifted(length, by)], at), got(os.pwritev, descriptor, [shifted(length, by)], at)]
    return result


@check
def direct_unaligned_does_no_harm():
    """Unaligned calls are either refused or done correctly."""
    before, result = bytes(range(250)) * 40, {}
    for name, (at, length, by) in UNALIGNED.items():
        put("f", before)
        descriptor, memory = os.open("f", os.O_RDWR | os.O_DIRECT), shifted(length, by)
        taken = value(os.preadv, descriptor, [memory], at)
        result[name] = [taken == "EINVAL" or bytes(memory[:taken]) == before[at:at + length] and taken == length]
        memory[:] = b"w" * length
        written = value(os.pwritev, descriptor, [memory], at)
        expected = before if written == "EINVAL" else before[:at] + b"w" * length + before[at + length:]
        result[name].append(content("f") == expected)
        os.close(descriptor)
    return result


@check
def direct_at_the_end_of_the_file():
    """A read at the end of the file is short, and a write past it leaves a hole of zeros."""
    put("f", b"x" * 5000)
    descriptor = os.open("f", os.O_RDWR | os.O_DIRECT)
    memory = aligned(bytes(4 * PAGE))
    result = [os.preadv(descriptor, [memory], at) for at in (0, PAGE, 2 * PAGE, 100 * PAGE)]
    result += [os.pwritev(descriptor, [aligned(b"y" * PAGE)], 5 * PAGE), os.fstat(descriptor).st_size]
    result += [content("f") == b"x" * 5000 + bytes(5 * PAGE - 5000) + b"y" * PAGE, os.preadv(descriptor, [memory], 3 * PAGE)]
    os.ftruncate(descriptor, 2 * PAGE + 10)
    return result + [os.preadv(descriptor, [memory], 0), bytes(memory[5000:2 * PAGE + 10]) == bytes(2 * PAGE + 10 - 5000)]


@check
def direct_append_by_two_writers():
    put("f", b"")

    def write(number):
        descriptor = os.open("f", os.O_WRONLY | os.O_APPEND | os.O_DIRECT)
        memory = aligned(bytes([number + 1]) * 4 * PAGE)
        return [os.write(descriptor, memory) for _ in range(50)] == [4 * PAGE] * 50
    done, data = together(2, write), content("f")
    pieces = [data[at:at + 4 * PAGE] for at in range(0, len(data), 4 * PAGE)]
    return [done, len(data), all(len(set(piece)) == 1 for piece in pieces), sum(piece[:1] == b"\x01" for piece in pieces)]


class Asynchronous:
    """Several reads or writes at once by io_submit(2)."""
    SETUP, DESTROY, GETEVENTS, SUBMIT = (206, 207, 208, 209) if os.uname().machine == "x86_64" else (0, 1, 4, 2)
    READ, WRITE = 0, 1

    def __init__(self):
        self.context = ctypes.c_ulong()
        call("syscall", self.SETUP, 64, ctypes.byref(self.context))

    def run(self, descriptor, requests):
        """Returns the outcome of each (operation, memory, offset)."""
        blocks, anchors = [], []
        for number, (operation, memory, offset) in enumerate(requests):
            anchors.append(ctypes.c_char.from_buffer(memory))
            block = struct.pack("<QIIHhIQQqQII", number, 0, 0, operation, 0, descriptor, ctypes.addressof(anchors[-1]),
                                len(memory), offset, 0, 0, 0)
            blocks.append(ctypes.create_string_buffer(block, 64))
        pointers = (ctypes.c_void_p * len(blocks))(*map(ctypes.addressof, blocks))
        events, outcomes = ctypes.create_string_buffer(32 * len(blocks)), {}
        submitted = call("syscall", self.SUBMIT, self.context, len(blocks), pointers)
        while len(outcomes) < submitted:
            count = call("syscall", self.GETEVENTS, self.context, 1, submitted, events, None)
            for at in range(count):
                number, _, outcome = struct.unpack_from("<QQq", events, 32 * at)
                outcomes[number] = outcome
        return [outcomes.get(number) for number in range(len(blocks))]

    def close(self):
        call("syscall", self.DESTROY, self.context)


@check
def direct_asynchronous():
    """Many simultaneous writes, most of them past the end, are all there and can be read the same way."""
    descriptor, queue = os.open("f", os.O_RDWR | os.O_CREAT | os.O_DIRECT), Asynchronous()
    pieces = [bytes([number + 1]) * 16 * PAGE for number in range(24)]
    result, order = [], [number * 7 % 24 for number in range(24)]
    for number in (order[:9], order[9:]):
        result.append(queue.run(descriptor, [(queue.WRITE, aligned(pieces[n]), n * 16 * PAGE) for n in number]))
    into = [mmap.mmap(-1, 16 * PAGE) for _ in pieces]
    result.append(queue.run(descriptor, [(queue.READ, memory, n * 16 * PAGE) for n, memory in enumerate(into)]))
    queue.close()
    return result + [content("f") == b"".join(pieces), [memory[:] for memory in into] == pieces, os.fstat(descriptor).st_size]


@check
def direct_asynchronous_beside_a_buffered_reader():
    """Written data is read at once, even if another descriptor fills the page cache meanwhile."""
    size = 160 * PAGE
    descriptor, queue = os.open("f", os.O_RDWR | os.O_CREAT | os.O_DIRECT), Asynchronous()
    os.pwritev(descriptor, [aligned(bytes(size))], 0)
    stale, done = 0, threading.Event()

    def read():
        while not done.is_set():
            content("f")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for turn in range(1, 101):
        queue.run(descriptor, [(queue.WRITE, aligned(bytes([turn]) * size), 0)])
        stale += content("f") != bytes([turn]) * size
    done.set()
    for reader in readers:
        reader.join()
    queue.close()
    return stale


@check
def buffered_asynchronous():
    descriptor, queue = os.open("f", os.O_RDWR | os.O_CREAT), Asynchronous()
    result = [queue.run(descriptor, [(queue.WRITE, aligned(bytes([n + 65]) * 1000), n * 1000) for n in range(20)])]
    queue.close()
    return result + [content("f") == b"".join(bytes([n + 65]) * 1000 for n in range(20))]
