"""The test bundle: its tests, and the command that runs a unit."""
import os
import re
import subprocess
from plan import Unit
from pool import Job


def path(root):
    swift = os.environ.get("SWIFT") or "swift"
    folder = subprocess.run([swift, "build", "--show-bin-path"], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return folder.stdout.strip() + "/purgefsPackageTests.xctest"


def command(binary):
    return [binary, "--testing-library", "swift-testing"]


def own_mounts():
    """Returns a command that gives each process a mount namespace of its own.

    Tests make namespaces too. Each of these would copy the mounts of the other processes and keep them alive, so that a
    file system would keep writing to its disk after its unmount.
    """
    return ["unshare", "--mount", "--propagation", "private"] if os.geteuid() == 0 else []


def list_tests(root, only):
    """Returns the names of the tests that match one of `only`; if `only` is empty, of all tests."""
    output = subprocess.run(command(path(root)) + ["--list-tests"], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    names = output.stdout.splitlines()
    if odd := [name for name in names if not re.fullmatch(r"\w+\.[\w/]+/\w+\(.*\)", name)]:
        raise SystemExit(f"Tests/Runner: these tests are in no suite, and would be left out: {odd}")
    return [name for name in names if not only or any(re.search(each, name) for each in only)]


def commands(root, logs, lines):
    """Returns a job without tests for each command line."""
    for number, line in enumerate(lines):
        log = os.path.join(logs, f"beside-{number + 1}")
        yield Job(Unit(line, [], 0), ["sh", "-c", line], root, log + ".log", log + ".jsonl", has_limit=False)


def jobs(root, logs, units, one_by_one):
    binary = path(root)
    for number, unit in enumerate(units):
        log = os.path.join(logs, f"{number + 1:03}")
        words = own_mounts() + command(binary) + ["--event-stream-version", "0", "--event-stream-output-path", log + ".jsonl"]
        words += ["--no-parallel"] if one_by_one else []
        for name in unit.names:
            words += ["--filter", "^" + re.escape(name)]
        for name in unit.without:
            words += ["--skip", "^" + re.escape(name)]
        yield Job(unit, words, root, log + ".log", log + ".jsonl")
