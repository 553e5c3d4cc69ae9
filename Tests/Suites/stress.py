"""stress-ng's file system class with --verify."""
import re

from places import scaled
from processes import run

# These stressors do not use their directory: they mount the root directory and binderfs elsewhere, read all of /proc,
# and sync every file system of the machine.
ELSEWHERE = ["bind-mount", "binderfs", "procfs", "io"]
# The inotify stressor's time limit for an event is too short for 45 stressors on two processors, so it fails in a
# plain directory too. It runs with the others in turn.
TIMED = ["inotify"]
FIEMAP = "FUSE has no FIEMAP: the ioctl never reaches a daemon"
KNOWN = {(case, "fiemap: plain ran, mount skipped"): FIEMAP for case in ("in turn", "all at once")}


def run_suite(place):
    each, together = scaled(2), scaled(60, 5)
    yield "in turn", stress(place, ["--sequential", "2", "-t", str(each)], ELSEWHERE, each * 60)
    yield "all at once", stress(place, ["--all", "1", "-t", str(together)], ELSEWHERE + TIMED, together)


def stress(place, options, without, seconds):
    command = ["stress-ng", "--class", "filesystem", "--verify", "--metrics-brief", "--temp-path", place.work,
               "-x", ",".join(without), *options]
    # Its mounts stay in a namespace of their own.
    done = run(["unshare", "-m", "--propagation", "slave", *command], timeout=seconds + 600, cwd=place.outside)
    return {**outcomes(done.stdout), "stress-ng itself": f"exit {done.returncode}"}


def outcomes(output):
    """Returns the outcome of each stressor: ran, skipped or failed."""
    found = {}
    for line in output.splitlines():
        # A line of the table has name, operations and seconds.
        metrics = re.match(r"stress-ng: metrc: \[\d+\] ([a-z][\w-]*) +\d+ +\d+\.\d+ ", line)
        said = re.match(r"stress-ng: (info|fail): +\[\d+\] ([a-z][\w-]*): (.*)", line)
        if metrics:
            found.setdefault(metrics[1], "ran")
        elif said and said[1] == "fail":
            found[said[2]] = f"failed: {said[3]}"
        elif said and "skipping" in said[3]:
            found[said[2]] = "skipped"
    return found
