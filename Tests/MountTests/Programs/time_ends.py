"""Sets times at the ends of a file system's range, on a mount and in a plain directory on the same file system.

    time_ends.py MOUNT PLAIN set|check AHEAD

With `set`, both read back the same. With `check`, the mount's times are AHEAD seconds earlier.
"""
import os
import sys

mount, plain, phase, ahead = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]) * 10**9
SECONDS = [
    -(1 << 63), -(1 << 62), -(1 << 40), -(1 << 31) - 1, -(1 << 31), -(1 << 31) + 1, -86_400, -1, 0, 1, (1 << 31) - 1,
    1 << 31, 1 << 32, 15_032_385_535, 15_032_385_536, 1 << 40, 1 << 62, (1 << 63) - 1]
NANOSECONDS = [0, 1, 500_000_000, 999_999_999]
FIRST = -(1 << 63) * 10**9

failures = 0
for seconds in SECONDS:
    for rest in NANOSECONDS:
        name = f"time{seconds}.{rest}"
        pair = [f"{directory}/{name}" for directory in (mount, plain)]
        if phase == "set":
            for path in pair:
                open(path, "w").close()
                os.utime(path, ns=(seconds * 10**9 + rest, seconds * 10**9 + rest))
        found, expected = [os.lstat(path) for path in pair]
        for kind in ("st_atime_ns", "st_mtime_ns"):
            now, wanted = getattr(found, kind), getattr(expected, kind) - ahead
            # A time never goes below the first second of the range.
            wanted = max(wanted, FIRST + wanted % 10**9)
            if now != wanted:
                failures += 1
                print(f"{phase} {name}: {kind} is {now}, not {wanted}")
sys.exit(failures > 0)
