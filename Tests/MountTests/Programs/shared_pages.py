"""Runs pwrite(2) while a shared mapping stores into the same pages.

    shared_pages.py DIRECTORY ROUNDS readwrite|writeonly|passed

In each round, one process writes 8 bytes into each of 256 pages, and another stores 8 other bytes through a mapping. The
writer's descriptor is O_RDWR or O_WRONLY. With `passed`, a descriptor for reading was opened first. Prints the number of rounds
that lost one of the two.
"""
import mmap
import os
import sys

PAGES = 256
PAGE = 4096


def meet(turns, own, page):
    """Lets both start on a page at the same moment."""
    turns[own] = page + 1
    spins = 0
    while turns[1 - own] <= page:
        spins += 1
        if spins > 1000:
            os.sched_yield()


def round_of(path, number, kind):
    with open(path, "wb") as file:
        file.truncate(0)
        file.write(b"\1" * PAGES * PAGE)
    reader = os.open(path, os.O_RDONLY) if kind == "passed" else None
    mapped = os.open(path, os.O_RDWR)
    written = os.open(path, os.O_WRONLY if kind == "writeonly" else os.O_RDWR)
    memory = mmap.mmap(mapped, PAGES * PAGE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    turns = memoryview(mmap.mmap(-1, PAGE)).cast("I")
    word = number.to_bytes(8, "little")
    child = os.fork()
    if child == 0:
        for page in range(PAGES):
            meet(turns, 0, page)
            os.pwrite(written, word, page * PAGE + 64)
        os._exit(0)
    for page in range(PAGES):
        meet(turns, 1, page)
        memory[page * PAGE + 128:page * PAGE + 136] = word
    _, status = os.waitpid(child, 0)
    assert status == 0
    memory.flush()
    os.fsync(mapped)
    data = os.pread(mapped, PAGES * PAGE, 0)
    lost = [
        page for page in range(PAGES)
        if data[page * PAGE + 64:page * PAGE + 72] != word or data[page * PAGE + 128:page * PAGE + 136] != word
    ]
    memory.close()
    for descriptor in [mapped, written] + ([reader] if reader else []):
        os.close(descriptor)
    return bool(lost)


def main():
    directory, rounds, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    print(sum(round_of(directory + "/shared", 0x1122334455 + number, kind) for number in range(rounds)))


main()
