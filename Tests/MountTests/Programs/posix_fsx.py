"""Random operations on one file through many descriptors, compared with a copy in memory (after fsx)."""
import hashlib
import mmap
import os
import random

from posix_check import call, check

LIMIT, PAGE = 600_000, 4096


class Exerciser:
    """The file, its copy, and its open descriptors."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.copy = bytearray()
        self.log = []
        os.close(os.open("f", os.O_CREAT | os.O_RDWR))
        os.close(os.open("other", os.O_CREAT | os.O_RDWR))
        self.open = [os.open("f", flags) for flags in (os.O_RDWR, os.O_RDWR, os.O_RDONLY)]
        self.direct = os.open("f", os.O_RDWR | os.O_DIRECT)

    def span(self, within=None):
        """Returns a random (offset, length), often at the edges of blocks."""
        top = LIMIT if within is None else within
        at = self.chance.randrange(top) if top else 0
        if self.chance.random() < 0.4:
            at -= at % PAGE
        length = self.chance.choice((1, 17, 511, PAGE, PAGE + 1, 3 * PAGE, 20_000, 70_000, 131_072))
        return at, min(length, top - at)

    @property
    def writer(self):
        return self.open[self.chance.randrange(2)]

    def put(self, at, data):
        if at > len(self.copy):
            self.copy.extend(bytes(at - len(self.copy)))
        self.copy[at:at + len(data)] = data

    def bytes(self, length):
        return self.chance.randbytes(length)

    def write(self):
        at, length = self.span()
        data = self.bytes(length)
        assert os.pwrite(self.writer, data, at) == length
        self.put(at, data)

    def append(self):
        data = self.bytes(self.chance.randrange(1, 9000))
        if len(self.copy) + len(data) > LIMIT:
            return
        descriptor = os.open("f", os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, data)
        os.close(descriptor)
        self.copy.extend(data)

    def write_direct(self):
        at, length = self.span()
        at, length = at - at % PAGE, max(PAGE, length - length % PAGE)
        memory = mmap.mmap(-1, length)
        memory[:] = self.bytes(length)
        assert os.pwritev(self.direct, [memory], at) == length
        self.put(at, memory[:])

    def write_mapped(self):
        at, length = self.span(len(self.copy))
        if length < 1:
            return
        data = self.bytes(length)
        with mmap.mmap(self.writer, len(self.copy)) as memory:
            memory[at:at + length] = data
            if self.chance.random() < 0.3:
                memory.flush()
        self.copy[at:at + length] = data

    def truncate(self):
        size = self.chance.choice((0, self.chance.randrange(LIMIT), len(self.copy) // 2, len(self.copy) - len(self.copy) % PAGE))
        if self.chance.random() < 0.5:
            os.truncate("f", size)
        else:
            os.ftruncate(self.writer, size)
        self.copy = self.copy[:size] + bytes(max(0, size - len(self.copy)))

    def fallocate(self):
        mode = self.chance.choice((0, 1, 3, 3, 16, 17))
        at, length = self.span()
        if length < 1:
            return
        call("fallocate", self.writer, mode, at, length)
        end = at + length
        if mode in (0, 16) and end > len(self.copy):
            self.copy.extend(bytes(end - len(self.copy)))
        if mode in (3, 16, 17):
            stop = min(end, len(self.copy))
            self.copy[at:stop] = bytes(max(0, stop - at))

    def copy_range(self):
        at, length = self.span(len(self.copy))
        to = self.chance.randrange(LIMIT - length)
        if length < 1 or at < to + length and to < at + length:
            return
        data, done = bytes(self.copy[at:at + length]), 0
        while done < length:
            done += os.copy_file_range(self.open[2], self.writer, length - done, at + done, to + done)
        self.put(to, data)

    def check_part(self):
        at, length = self.span(max(1, len(self.copy)))
        expected = bytes(self.copy[at:at + length])
        how = self.chance.randrange(4)
        if how == 0 and expected:
            with mmap.mmap(self.open[2], len(self.copy), prot=mmap.PROT_READ) as memory:
                found = memory[at:at + length]
        elif how == 1:
            memory = mmap.mmap(-1, 204_800)
            count = os.preadv(self.direct, [memory], at - at % PAGE)
            found = memory[:count][at % PAGE:][:length]
        else:
            found = os.pread(self.chance.choice(self.open), length, at)
        assert found == expected, f"at {at}, {length} bytes, way {how}"

    def check_holes(self):
        """Checks that holes read as zeros."""
        size, at = len(self.copy), 0
        while at < size:
            try:
                data = os.lseek(self.open[0], at, os.SEEK_DATA)
            except OSError:
                data = size
            assert not any(self.copy[at:data]), f"data in a hole at {at}"
            at = os.lseek(self.open[0], data, os.SEEK_HOLE) if data < size else size

    def reopen(self):
        at = self.chance.randrange(3)
        os.close(self.open[at])
        self.open[at] = os.open("f", os.O_RDONLY if at == 2 else os.O_RDWR)

    def reopen_all(self):
        """Closes all descriptors and opens new ones. The first one may then be passed through to the kernel."""
        for descriptor in self.open + [self.direct]:
            os.close(descriptor)
        self.open[2] = os.open("f", os.O_RDONLY)
        self.check_all(self.open[2])
        self.open[0], self.open[1] = os.open("f", os.O_RDWR), os.open("f", os.O_RDWR)
        self.direct = os.open("f", os.O_RDWR | os.O_DIRECT)

    def sync(self):
        self.chance.choice((os.fsync, os.fdatasync))(self.writer)
        os.posix_fadvise(self.open[0], 0, 0, os.POSIX_FADV_DONTNEED)

    def check_all(self, descriptor=None):
        found = os.pread(self.open[0] if descriptor is None else descriptor, LIMIT * 2, 0)
        assert len(found) == len(self.copy), f"{len(found)} bytes instead of {len(self.copy)}"
        assert found == self.copy, f"differs at {next(n for n, pair in enumerate(zip(found, self.copy)) if pair[0] != pair[1])}"

    def run(self, count):
        steps = [self.write] * 6 + [self.check_part] * 8 + [self.write_mapped] * 3 + [self.fallocate] * 3 + [
            self.truncate, self.truncate, self.append, self.write_direct, self.copy_range, self.reopen, self.reopen_all, self.sync, self.check_holes]
        for number in range(count):
            step = self.chance.choice(steps)
            self.log.append(step.__name__)
            try:
                step()
                assert os.fstat(self.open[0]).st_size == len(self.copy), "size"
            except (AssertionError, OSError) as error:
                raise AssertionError(f"operation {number}, {step.__name__}: {error}; before it: {self.log[-12:]}") from error
        self.check_all()
        return [len(self.copy), hashlib.md5(self.copy).hexdigest()]


def add(seed, count):
    def function():
        return Exerciser(seed).run(count)
    function.__name__ = f"random_operations_on_a_file_{seed}"
    check(function)


for number in range(1, 9):
    add(number, 600)
