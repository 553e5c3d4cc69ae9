"""Compares file times on a mount with an independent model, under random writes, set times and advances of the clock.

    file_times.py MOUNT STATE SEED STEPS

In the model, a call gives a file the current time or the one passed to utimensat(2), and an advance makes all times of existing
entries older. If STATE exists, it is read and compared with the mount. It is written at the end, so that the next run can
continue on another mount of the same store.
"""
import datetime
import json
import os
import random
import stat
import sys
import time

mount, state_path, seed, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.chdir(mount)
rng = random.Random(seed)
DAY = 86_400 * 10**9
# Time stamps may lag behind the clock that programs read.
LAG = 50 * 10**6
ATIME, MTIME, CTIME, BIRTH = range(4)
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def seen(path):
    status = os.lstat(path)
    times = [status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns, None]
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        date = os.getxattr(path, "user.purgefs.creationDate").decode()
        times[BIRTH] = round((datetime.datetime.fromisoformat(date.replace("Z", "+00:00")) - EPOCH).total_seconds() * 1000)
    return times


class Model:
    def __init__(self):
        self.files, self.ahead, self.count = {}, 0, 0

    def fail(self, what, path, expected, found):
        names = ["atime", "mtime", "ctime", "birth"]
        wrong = [f"{name} {was} is {now}" for name, was, now in zip(names, expected, found) if was != now]
        sys.exit(f"seed {seed}, {what}, {path}: {'; '.join(wrong)}; clock {self.ahead}")

    def check(self, what, paths=None):
        for path in paths or self.files:
            found = seen(path)
            if found != self.files[path]:
                self.fail(what, path, self.files[path], found)

    def happens(self, what, action, touched, exact=None):
        """Runs `action`. Times of `touched` paths may become the current time, or must be the time in `exact`."""
        before = time.time_ns() - LAG
        action()
        after = time.time_ns()
        for path in touched:
            found = seen(path)
            expected = list(self.files.get(path, [None] * 4))
            for kind in (ATIME, MTIME, CTIME):
                if exact and path == exact[0] and exact[1].get(kind) is not None:
                    expected[kind] = exact[1][kind]
                elif before <= found[kind] <= after:
                    expected[kind] = found[kind]
            if expected[BIRTH] is None and found[BIRTH] is not None and before // 10**6 <= found[BIRTH] <= after // 10**6:
                expected[BIRTH] = found[BIRTH]
            self.files[path] = expected
            if found != expected:
                self.fail(what, path, expected, found)


def parent(path):
    return os.path.dirname(path)


def put(path, text, flags=os.O_WRONLY | os.O_CREAT):
    file = os.open(path, flags, 0o644)
    os.write(file, text)
    os.close(file)


model = Model()
PLACES = ["Documents", "Documents/a", "tmp", "Library/Caches"]


def make():
    model.count += 1
    path = f"{rng.choice(PLACES)}/{model.count}"
    kind = rng.randrange(10)
    if kind < 7:
        action = lambda: put(path, b"x" * rng.randrange(20000))
    elif kind == 7:
        action = lambda: os.mkdir(path)
    elif kind == 8:
        action = lambda: os.symlink("nothing", path)
    else:
        action = lambda: os.mkfifo(path)
    model.happens("make", action, [path, parent(path)])


def some(test=lambda status: True):
    paths = [path for path in model.files if path not in PLACES and test(os.lstat(path).st_mode)]
    return rng.choice(paths) if paths else None


def write():
    path = some(stat.S_ISREG)
    if path and os.access(path, os.W_OK):
        model.happens("write", lambda: put(path, b"y" * rng.randrange(1, 9000)), [path])


def read():
    path = some(stat.S_ISREG)
    if path and os.access(path, os.R_OK):
        model.happens("read", lambda: open(path, "rb").read(), [path])


def change():
    path = some()
    links = stat.S_ISLNK(os.lstat(path).st_mode) if path else True
    kind = rng.randrange(4)
    if not path:
        return
    if kind == 0 and not links:
        mode = rng.choice([0o700, 0o644, 0o755, 0o444] if stat.S_ISREG(os.lstat(path).st_mode) else [0o755, 0o700, 0o555])
        model.happens("chmod", lambda: os.chmod(path, mode), [path])
    elif kind == 1:
        model.count += 1
        new = f"{rng.choice(PLACES)}/{model.count}"
        if not links and os.path.isdir(path):
            return
        times = model.files.pop(path)
        model.files[new] = times
        model.happens("rename", lambda: os.rename(path, new), [new, parent(path), parent(new)])
    elif kind == 2:
        model.happens("unlink", lambda: os.rmdir(path) if stat.S_ISDIR(os.lstat(path).st_mode) else os.unlink(path),
                      [parent(path)])
        del model.files[path]
    elif not links and os.path.isfile(path) and os.access(path, os.W_OK):
        model.happens("setxattr", lambda: os.setxattr(path, "user.x", b"y"), [path])


def value(is_kept):
    """Returns a random time. In an ordinary user's mount, links and special files keep only the times that stamps can express
    across an unmount."""
    now = time.time_ns()
    early = now - 4000 * DAY - rng.randrange(1000 * DAY)
    if not is_kept:
        return early
    known = model.files[rng.choice(list(model.files))][rng.choice([ATIME, MTIME, CTIME])]
    return rng.choice([
        now, early, known, known + 1, known - 1, known - rng.randrange(40 * DAY),
        now - rng.randrange(40 * DAY), now - rng.randrange(10 * DAY), now - model.ahead * 10**9, now + rng.randrange(DAY, 90 * DAY),
        0, 1, -1, -1_500_000_000_123_456_789, 2_000_000_000_999_999_999, 2_147_483_647_000_000_000])


def set_times():
    path = some()
    if not path:
        return
    mode = os.lstat(path).st_mode
    is_kept = stat.S_ISREG(mode) or stat.S_ISDIR(mode) or os.geteuid() == 0
    if rng.randrange(6) == 0:
        model.happens("utime now", lambda: os.utime(path, follow_symlinks=False), [path])
        return
    access, modified = value(is_kept), value(is_kept)
    model.happens("utime", lambda: os.utime(path, ns=(access, modified), follow_symlinks=False), [path],
                  (path, {ATIME: access, MTIME: modified}))


def advance():
    span = rng.choice([1, 5, 60, 3600, 86_400, 3 * 86_400, 21 * 86_400, rng.randrange(1, 10**6)])
    if model.ahead + span > 3000 * 86_400:
        return
    with open(".purgefs/device.clock", "w") as clock:
        clock.write(f"+{span}s")
    model.ahead += span
    for times in model.files.values():
        for kind in (ATIME, MTIME, CTIME):
            times[kind] -= span * 10**9
        if times[BIRTH] is not None:
            times[BIRTH] -= span * 1000
    assert int(open(".purgefs/device.clock").read()) == model.ahead


if os.path.exists(state_path):
    with open(state_path) as file:
        model.files, model.ahead, model.count = json.load(file)
    for path in model.files if os.geteuid() else []:
        # During its scan, an ordinary user's daemon adds permissions to entries that their owner has closed.
        if os.lstat(path).st_mode & 0o700 not in (0o600, 0o700) and model.files[path][CTIME] < seen(path)[CTIME]:
            model.files[path][CTIME] = seen(path)[CTIME]
    model.check("after the mount")
else:
    os.mkdir("Documents/a")
    for place in PLACES:
        model.files[place] = seen(place)

actions = [make] * 4 + [write] * 3 + [read] * 2 + [change] * 3 + [set_times] * 6 + [advance]
for step in range(steps):
    rng.choice(actions)()
    if step % 50 == 49:
        model.check(f"step {step}")
model.check("the end")
with open(state_path, "w") as file:
    json.dump([model.files, model.ahead, model.count], file)
print(f"{steps} steps, {len(model.files)} entries, clock {model.ahead}")
