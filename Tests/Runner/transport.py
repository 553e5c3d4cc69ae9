"""The transport of all mounts of a run (docs/PERFORMANCE.md, Requests by io_uring)."""
import contextlib
import os
import sys

SWITCH = "/sys/module/fuse/parameters/enable_uring"


@contextlib.contextmanager
def chosen(name):
    """Makes "ring" or "dev" the transport of all mounts meanwhile. For "ring", switches io_uring on, and afterwards back."""
    if name is not None:
        os.environ["PURGEFS_TRANSPORT"] = name
    if name != "ring":
        yield
        return
    if not os.path.exists(SWITCH):
        sys.exit("Tests/Runner: this kernel has no requests by io_uring; Linux 6.14 and newer have them")
    before = write("Y")
    try:
        yield
    finally:
        write(before)


def write(value):
    with open(SWITCH, "r+") as switch:
        before = switch.read().strip()
        if before != value:
            switch.write(value)
        return before
