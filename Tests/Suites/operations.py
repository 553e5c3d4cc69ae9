"""Runs a million mixed operations (mixed.py) twice, to find leaks in the daemon.

The first million warms up, and growth in the second is a leak. In a group of three numbers, the first is from before the
operations, and the others are from after each million.
"""
import os
import subprocess
import sys

from places import HERE, drop_caches, scaled
from processes import wait_until

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
PROCESSES = 2
TIME_LIMIT = 1800
# glibc makes a heap for each thread, up to eight for each processor, and each heap needs millions of operations to
# reach its size. With a single heap, leaks show.
ENVIRONMENT = {"MALLOC_ARENA_MAX": "1"}
#: Two bytes for each operation, because the heap may reach its full size only in the second million.
ALLOWED_GROWTH = 2 << 20


def run_suite(place):
    each = scaled(1_000_000, 1000) // PROCESSES
    if place.daemon:
        before = settled(place)
    yield "warming up", work(place, each, 1)
    if place.daemon:
        warm = settled(place)
    yield "a million", work(place, each, 1)
    if place.daemon:
        after = settled(place)
        yield "inodes", inodes(before, warm, after)
        yield "descriptors", descriptors(before, warm, after)
        yield "memory", memory(before, warm, after)


def work(place, operations, seed):
    """Runs mixed.py several times at once, each in a folder of its own."""
    workers = []
    for number in range(PROCESSES):
        folder = os.path.join(place.work, str(number))
        os.makedirs(folder, exist_ok=True)
        workers.append(subprocess.Popen(
            [PYTHON, "-B", os.path.join(HERE, "mixed.py"), folder, str(seed + number), str(operations)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    said = [worker.communicate(timeout=TIME_LIMIT)[0].strip() for worker in workers]
    return ", ".join(f"exit {worker.returncode}: {text[-300:]}" for worker, text in zip(workers, said))


class Sample:
    """The nodes, descriptors and memory that the daemon holds at one moment."""

    def __init__(self, place):
        self.census = place.census()
        self.resident = place.resident()
        self.kinds = {}
        for name in os.listdir(f"/proc/{place.daemon.pid}/fd"):
            try:
                target = os.readlink(f"/proc/{place.daemon.pid}/fd/{name}")
            except OSError:
                continue
            # Each worker thread has its own pipe for splicing, and the number of threads follows the load.
            kind = "pipe" if target.startswith("pipe:") else os.path.basename(target)
            self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def descriptors(self):
        return sum(count for kind, count in self.kinds.items() if kind != "pipe")


def settled(place):
    """Returns a sample after the kernel has dropped its caches and the daemon has released removed files."""
    os.sync()
    drop_caches()
    wait_until(lambda: place.census()["known"] == 0, 10)
    drop_caches()
    wait_until(lambda: place.census()["nodes"] <= 64, 30)
    return Sample(place)


def inodes(before, warm, after):
    counts = f"{before.census['nodes']}, {warm.census['nodes']} and {after.census['nodes']} nodes"
    names = ("known", "files", "directories", "unclosed", "overdrawn")
    left = ", ".join(f"{name} {after.census[name]}" for name in names)
    # The folders of the two processes are new since `before`.
    most = min(warm.census["nodes"], before.census["nodes"] + PROCESSES)
    lost = after.census["nodes"] > most or any(after.census[name] for name in names)
    return f"{'lost' if lost else 'ok'}: {counts}; {left}"


def descriptors(before, warm, after):
    counts = f"{before.descriptors()}, {warm.descriptors()} and {after.descriptors()}"
    if after.descriptors() > warm.descriptors():
        return f"lost: {counts}: {warm.kinds} became {after.kinds}"
    return f"ok: {counts}, and {after.kinds.get('pipe', 0)} of pipes"


def memory(before, warm, after):
    verdict = "ok" if after.resident - warm.resident <= ALLOWED_GROWTH else "lost"
    return f"{verdict}: {before.resident >> 10}, {warm.resident >> 10} and {after.resident >> 10} KiB"
