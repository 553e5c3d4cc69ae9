"""Slow calls, and readers of events, beside other calls on the same CPU. A rule makes each sync take seconds."""
import os
import sys
import threading

root = sys.argv[1]
os.sched_setaffinity(0, {0})
files = [os.open(f"{root}/Documents/s{number}", os.O_CREAT | os.O_RDWR) for number in range(20)]
for file in files:
    os.write(file, b"x")
ended, got = [], []


def sync(file):
    os.fsync(file)
    ended.append(file)


def follow():
    events = os.open(f"{root}/.purgefs/events", os.O_RDONLY)
    text = b""
    while b"tmp/purged" not in text:
        text += os.read(events, 65536)
    got.append(events)
    os.close(events)


readers = [threading.Thread(target=follow) for _ in range(60)]
syncs = [threading.Thread(target=sync, args=[file]) for file in files]
for thread in readers + syncs:
    thread.start()
before = 0
for number in range(100):
    os.statvfs(root)
    file = os.open(f"{root}/Documents/f{number}", os.O_CREAT | os.O_RDWR)
    os.write(file, b"y" * 4096)
    os.close(file)
    before += 2 if not ended else 0
print("calls before a sync has ended:", before)
for thread in syncs:
    thread.join()
for file in files:
    os.close(file)
with open(f"{root}/.purgefs/faults", "w") as faults:
    faults.write("off")
with open(f"{root}/tmp/purged", "w") as file:
    file.write("x")
with open(f"{root}/.purgefs/storage.reclaim", "w") as reclaim:
    reclaim.write("tmp")
for thread in readers:
    thread.join()
print("readers with the event:", len(got))
