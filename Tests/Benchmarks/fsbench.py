#!/usr/bin/env python3
"""Compares directories by running the same workloads in each, in alternation.

    fsbench.py native=DIR ours=MOUNT/Documents bindfs=MOUNT2
    fsbench.py --only stat,sqlite --reps 9 --scale 0.1 native=DIR ours=DIR2
    fsbench.py --list

The first directory is the baseline. A cell shows the median rate over the
repetitions, then the median of each repetition's ratio to the baseline; a ratio
above 1 is faster. Every repetition runs all directories, each time starting
with a different one. Uses the standard library only.

cold   the pages of a FUSE mount are dropped first; pages of the backing file and
       of other directories stay, so the row measures FUSE, not the disk
fresh  all names and inodes that the kernel remembers are dropped first, for
       every directory (root only; without root these rows are warm)
warm   an untimed pass runs first
"""
import argparse
import json
import mmap
import os
import random
import shutil
import sqlite3
import statistics
import sys
import time

MIB = 1 << 20
BLOCK = 4096
NOISE = os.urandom(MIB)
PAGE = NOISE[:BLOCK]
DROP = "/proc/sys/vm/drop_caches"

WORKLOADS = []  # (function, [(name, unit, what it measures), ...])


def workload(*rows):
    def add(function):
        WORKLOADS.append((function, rows))
        return function
    return add


class Clock:
    """Adds up the seconds of its `with` blocks. A workload may stop early if `over()`."""

    def __init__(self, limit):
        self.seconds, self.limit, self.started = 0.0, limit, 0.0

    def __enter__(self):
        self.started = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.seconds += time.perf_counter() - self.started

    def over(self):
        return time.perf_counter() - self.started + self.seconds > self.limit


class Place:
    """One directory under test, with a scratch directory of its own."""

    def __init__(self, name, root, options):
        self.name, self.options = name, options
        self.root = os.path.join(root, f".fsbench.{os.getpid()}")
        self.is_fuse = filesystem_of(root).startswith("fuse")
        self.ready = set()
        os.mkdir(self.root)

    def start_afresh(self):
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root, exist_ok=True)
        self.ready.clear()

    def clock(self):
        return Clock(self.options.max_seconds)

    def folder(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(path, exist_ok=True)
        return path

    def count(self, full):
        return max(16, int(full * self.options.scale))

    def mebibytes(self, full):
        return max(4, int(full * self.options.scale)) * MIB

    def once(self, name):
        """Returns True the first time, when the caller must prepare the data set `name`."""
        first = name not in self.ready
        self.ready.add(name)
        return first

    def forget_pages(self, descriptor):
        if self.is_fuse:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def forget_names(self):
        if not os.access(DROP, os.W_OK):
            return
        for _ in range(2):  # the second round drops inodes that FUSE's own FORGETs have released
            with open(DROP, "w") as knob:
                knob.write("2")
            time.sleep(0.1)


def filesystem_of(path):
    device = os.stat(path).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    with open("/proc/self/mountinfo") as table:
        for line in table:
            if line.split()[2] == wanted:
                return line.split(" - ")[1].split()[0]
    return "?"


def new_file(path, content=PAGE):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(descriptor, content)
    os.close(descriptor)


# One large file.

def sequential_write(place, unit, total):
    path = os.path.join(place.folder("write"), "new")
    written, chunk = 0, memoryview(NOISE)[:unit]
    with place.clock() as clock:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        while written < total:
            for _ in range(max(1, 4 * MIB // unit)):
                written += os.write(descriptor, chunk)
            if clock.over():
                break
        os.close(descriptor)
    os.unlink(path)
    return written / 1e6, clock


@workload(("seqwrite_1m", "MB/s", "a new 1 GiB file in 1 MiB writes, close included"))
def seqwrite_1m(place):
    return [sequential_write(place, MIB, place.mebibytes(1024))]


@workload(("seqwrite_4k", "MB/s", "a new 256 MiB file in 4 KiB writes, close included"))
def seqwrite_4k(place):
    return [sequential_write(place, BLOCK, place.mebibytes(256))]


def large_file(place):
    path, size = os.path.join(place.folder("large"), "file"), place.mebibytes(256)
    if place.once("large"):
        with open(path, "wb", buffering=0) as file:
            for _ in range(size // MIB):
                file.write(NOISE)
            os.fsync(file.fileno())
    return path, size


def read_through(descriptor, size, buffer):
    for offset in range(0, size, MIB):
        if os.preadv(descriptor, [buffer], offset) <= 0:
            raise OSError("short read")


def touch_every_page(descriptor, size):
    with mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ) as mapping:
        len(mapping[::BLOCK])


def passes(place, action, cold, most):
    """Runs action(descriptor, size) up to `most` times on the large file."""
    path, size = large_file(place)
    clock, done = place.clock(), 0
    descriptor = os.open(path, os.O_RDONLY)
    if not cold:
        action(descriptor, size)
    for _ in range(most):
        if cold:
            os.close(descriptor)
            descriptor = os.open(path, os.O_RDONLY)
            place.forget_pages(descriptor)
        with clock:
            action(descriptor, size)
        done += size
        if clock.seconds > clock.limit:
            break
    os.close(descriptor)
    return [(done / 1e6, clock)]


@workload(("seqread_1m_cold", "MB/s", "256 MiB in 1 MiB reads, cold"))
def seqread_cold(place):
    buffer = bytearray(MIB)
    return passes(place, lambda fd, size: read_through(fd, size, buffer), True, 4)


@workload(("seqread_1m_warm", "MB/s", "the same, warm"))
def seqread_warm(place):
    buffer = bytearray(MIB)
    return passes(place, lambda fd, size: read_through(fd, size, buffer), False, 8)


def random_offsets(size, count, seed):
    dice = random.Random(seed)
    return [dice.randrange(size // BLOCK) * BLOCK for _ in range(count)]


@workload(("randread_4k_warm", "op/s", "400,000 random 4 KiB reads of 256 MiB, warm"))
def randread(place):
    path, size = large_file(place)
    offsets, buffer, done = random_offsets(size, place.count(400_000), 1), [bytearray(BLOCK)], 0
    descriptor = os.open(path, os.O_RDONLY)
    read_through(descriptor, size, bytearray(MIB))
    with place.clock() as clock:
        for start in range(0, len(offsets), 1000):
            for offset in offsets[start:start + 1000]:
                os.preadv(descriptor, buffer, offset)
                done += 1
            if clock.over():
                break
    os.close(descriptor)
    return [(done, clock)]


@workload(("randwrite_4k", "op/s", "50,000 random 4 KiB overwrites in place, open and close included"))
def randwrite(place):
    path, size = large_file(place)
    offsets, done = random_offsets(size, place.count(50_000), 2), 0
    with place.clock() as clock:
        descriptor = os.open(path, os.O_WRONLY)
        for start in range(0, len(offsets), 250):
            for offset in offsets[start:start + 250]:
                os.pwrite(descriptor, PAGE, offset)
                done += 1
            if clock.over():
                break
        os.close(descriptor)
    return [(done, clock)]


@workload(("mmap_read_cold", "MB/s", "map 256 MiB, touch every page, unmap; cold"))
def mmap_cold(place):
    return passes(place, touch_every_page, True, 3)


@workload(("mmap_read_warm", "MB/s", "the same, warm"))
def mmap_warm(place):
    return passes(place, touch_every_page, False, 60)


# Many small files.

@workload(("create_4k", "op/s", "create, write 4 KiB, close: 10,000 files in a directory"),
          ("smallread_fresh", "op/s", "open, read, close each of them, fresh and cold"),
          ("smallread_warm", "op/s", "the same again"),
          ("rename", "op/s", "rename 5,000 of them in the directory"),
          ("unlink", "op/s", "unlink them all"))
def small_files(place):
    folder = place.folder("small")
    names = [f"{folder}/a{i:05}" for i in range(place.count(10_000))]
    clocks = [place.clock() for _ in range(5)]

    def read_each():
        for name in names:
            descriptor = os.open(name, os.O_RDONLY)
            os.read(descriptor, 2 * BLOCK)
            os.close(descriptor)

    with clocks[0]:
        for name in names:
            new_file(name)
    if place.is_fuse:
        for name in names:
            descriptor = os.open(name, os.O_RDONLY)
            place.forget_pages(descriptor)
            os.close(descriptor)
    place.forget_names()
    with clocks[1]:
        read_each()
    with clocks[2]:
        read_each()
    half = len(names) // 2
    renamed = [f"{folder}/b{i:05}" for i in range(half)]
    with clocks[3]:
        for old, new in zip(names, renamed):
            os.rename(old, new)
    names[:half] = renamed
    with clocks[4]:
        for name in names:
            os.unlink(name)
    return list(zip([len(names), len(names), len(names), half, len(names)], clocks))


def empty_files(place):
    folder = place.folder("empty")
    names = [f"{folder}/e{i:05}" for i in range(place.count(10_000))]
    if place.once("empty"):
        for name in names:
            new_file(name, b"")
    return folder, names


@workload(("stat_fresh", "op/s", "stat 10,000 empty files, fresh"),
          ("stat_warm", "op/s", "the same 15 times more"))
def stat(place):
    _, names = empty_files(place)
    fresh, warm, done = place.clock(), place.clock(), 0
    place.forget_names()
    with fresh:
        for name in names:
            os.stat(name)
    with warm:
        for _ in range(15):
            for name in names:
                os.stat(name)
            done += len(names)
            if warm.over():
                break
    return [(len(names), fresh), (done, warm)]


@workload(("readdir_stat", "op/s", "list 10,000 entries and lstat each, fresh"))
def readdir_stat(place):
    folder, names = empty_files(place)
    place.forget_names()
    with place.clock() as clock, os.scandir(folder) as entries:
        seen = sum(1 for entry in entries if entry.stat(follow_symlinks=False))
    if seen != len(names):
        raise OSError(f"listing shows {seen} of {len(names)} entries")
    return [(seen, clock)]


@workload(("readdir_warm", "op/s", "list 10,000 entries 40 times, entries a second"))
def readdir_warm(place):
    folder, _ = empty_files(place)
    seen = len(os.listdir(folder)) * 0
    with place.clock() as clock:
        for _ in range(40):
            seen += len(os.listdir(folder))
            if clock.over():
                break
    return [(seen, clock)]


@workload(("setxattr", "op/s", "replace a user attribute, 1,000 files 10 times"),
          ("getxattr", "op/s", "read it, 1,000 files 10 times"))
def xattr(place):
    folder = place.folder("xattr")
    names = [f"{folder}/x{i:04}" for i in range(place.count(1000))]
    if place.once("xattr"):
        for name in names:
            new_file(name, b"")
            os.setxattr(name, "user.fsbench", b"first")
    setting, getting = place.clock(), place.clock()
    with setting:
        for turn in range(10):
            for name in names:
                os.setxattr(name, "user.fsbench", b"value%d" % turn)
    with getting:
        for _ in range(10):
            for name in names:
                os.getxattr(name, "user.fsbench")
    return [(10 * len(names), setting), (10 * len(names), getting)]


@workload(("statvfs", "op/s", "20,000 times"))
def statvfs(place):
    folder, count = place.folder("statvfs"), place.count(20_000)
    with place.clock() as clock:
        for _ in range(count):
            os.statvfs(folder)
    return [(count, clock)]


@workload(("untar", "op/s", "2,000 files in 200 directories made as tar -x does"),
          ("rmtree", "op/s", "that tree removed"))
def tree(place):
    root, count = os.path.join(place.root, "tree"), place.count(2000)
    making, removing = place.clock(), place.clock()
    with making:
        os.mkdir(root)
        for i in range(count):
            folder = f"{root}/d{i // 10:03}"
            if i % 10 == 0:
                os.mkdir(folder)
            path = f"{folder}/f{i % 10}"
            new_file(path, NOISE[:500 + i % 7 * 1500])
            os.chmod(path, 0o640)
            os.utime(path, ns=(10**18 + i, 10**18 + i))
    with removing:
        shutil.rmtree(root)
    return [(count, making), (count, removing)]


# Programs.

def transactions(place, journal):
    path, count = os.path.join(place.folder("sqlite"), f"{journal}.db"), place.count(2000)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={journal}")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, body BLOB, seen INTEGER DEFAULT 0)")
    done = 0
    with place.clock() as clock:
        for done in range(1, count + 1):
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT INTO entry (body) VALUES (?)", (NOISE[:200],))
            database.execute("UPDATE entry SET seen = seen + 1 WHERE id = ?", (done // 2 + 1,))
            database.execute("COMMIT")
            if clock.over():
                break
        database.close()
    for suffix in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    return [(done, clock)]


@workload(("sqlite_wal", "op/s", "2,000 transactions of an insert and an update, WAL, synchronous=full"))
def sqlite_wal(place):
    return transactions(place, "wal")


@workload(("sqlite_delete", "op/s", "the same with the rollback journal"))
def sqlite_delete(place):
    return transactions(place, "delete")


# Two processes.

def in_two_processes(place, body):
    """Runs body(i) in two processes. `body` prepares, yields, and then does the timed work."""
    start_reader, start_writer = os.pipe()
    ready_reader, ready_writer = os.pipe()
    children = []
    for i in range(2):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(start_writer)
                steps = body(i)
                next(steps)
                os.write(ready_writer, b".")
                os.read(start_reader, 1)
                next(steps, None)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    os.close(ready_writer)
    for _ in children:
        os.read(ready_reader, 1)  # or nothing if a child has failed
    with place.clock() as clock:
        os.close(start_writer)
        failed = [child for child in children if os.waitpid(child, 0)[1]]
    os.close(start_reader)
    os.close(ready_reader)
    if failed:
        raise OSError("a child process failed")
    return clock


@workload(("par2_randwrite_4k", "op/s", "two processes, 25,000 random 4 KiB overwrites each, own file"))
def par_randwrite(place):
    size, count, folder = place.mebibytes(64), place.count(25_000), place.folder("par")

    def body(i):
        path = f"{folder}/file{i}"
        if not os.path.exists(path):
            with open(path, "wb", buffering=0) as file:
                for _ in range(size // MIB):
                    file.write(NOISE)
                os.fsync(file.fileno())
        offsets = random_offsets(size, count, 10 + i)
        descriptor = os.open(path, os.O_WRONLY)
        yield
        for offset in offsets:
            os.pwrite(descriptor, PAGE, offset)
        os.close(descriptor)
    return [(2 * count, in_two_processes(place, body))]


@workload(("par2_create_unlink", "op/s", "two processes, 3,000 files made and unlinked each, own directory"))
def par_create_unlink(place):
    count = place.count(3000)

    def body(i):
        folder = place.folder(f"par-small/{i}")
        names = [f"{folder}/f{n:05}" for n in range(count)]
        yield
        for name in names:
            new_file(name)
        for name in names:
            os.unlink(name)
    return [(2 * count, in_two_processes(place, body))]


# The report.

def rate(value):
    for limit, divisor, suffix in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= limit:
            return f"{value / divisor:.1f}{suffix}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def summary(runs, places):
    """Returns, for each place, the median rate and the median ratio to the first place."""
    base, out = runs[places[0].name], {}
    for place in places:
        mine = runs[place.name]
        pairs = [m / b for m, b in zip(mine, base) if m and b]
        good = [m for m in mine if m]
        out[place.name] = {
            "median": statistics.median(good) if good else None,
            "ratio": statistics.median(pairs) if pairs else None,
            "runs": mine,
        }
    return out


def row(name, unit, result, places):
    cells = []
    for place in places:
        got = result[place.name]
        text = "failed" if got["median"] is None else rate(got["median"])
        if place is not places[0] and got["ratio"] is not None:
            text += f" {got['ratio']:.2f}"
        cells.append(f"{text:>15}")
    return f"{name:<20}{unit:<6}" + "".join(cells)


def run_all(places, options, wanted):
    results, failures = {}, []
    print(f"{'workload':<20}{'unit':<6}" + "".join(f"{place.name:>15}" for place in places), flush=True)
    for function, rows in WORKLOADS:
        if not any(wanted(name) for name, _, _ in rows):
            continue
        runs = {name: {place.name: [] for place in places} for name, _, _ in rows}
        for turn in range(options.reps):
            first = turn % len(places)
            for place in places[first:] + places[:first]:
                try:
                    rates = [amount / clock.seconds for amount, clock in function(place)]
                except (OSError, sqlite3.Error) as error:
                    failures.append(f"{function.__name__} in {place.name}: {error}")
                    place.start_afresh()
                    rates = [None] * len(rows)
                for (name, _, _), value in zip(rows, rates):
                    runs[name][place.name].append(value)
        for name, unit, _ in rows:
            if wanted(name):
                results[name] = summary(runs[name], places)
                print(row(name, unit, results[name], places), flush=True)
    return results, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", metavar="NAME=DIR")
    parser.add_argument("--only", default="", help="comma separated beginnings of workload names")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies sizes and counts")
    parser.add_argument("--max-seconds", type=float, default=4.0, help="a run may end early, its rate still counts")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--list", action="store_true", help="what each workload measures")
    options = parser.parse_args()
    if options.list:
        for _, rows in WORKLOADS:
            for name, unit, text in rows:
                print(f"{name:<20}{unit:<6}{text}")
        return 0
    if not options.places or any("=" not in place for place in options.places):
        parser.error("give the directories to compare as NAME=DIR, the baseline first")
    beginnings = tuple(filter(None, options.only.split(",")))
    places = []
    try:
        for place in options.places:
            places.append(Place(*place.split("=", 1), options))
        fresh = "yes" if os.access(DROP, os.W_OK) else "NO, not root: rows called fresh are warm"
        print(f"# {options.reps} repetitions, scale {options.scale:g}, fresh: {fresh}")
        results, failures = run_all(places, options, lambda name: not beginnings or name.startswith(beginnings))
    finally:
        for place in places:
            shutil.rmtree(place.root, ignore_errors=True)
    for failure in failures:
        print(f"fsbench: {failure}", file=sys.stderr)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
