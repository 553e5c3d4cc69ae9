"""Divides the tests into units by the times of an earlier run."""
from dataclasses import dataclass, field

# Seconds from which a test is a unit of its own.
LONG = 4.0
# Seconds up to which short suites share a unit.
SHARED = 6.0
# Assumed seconds of a test without a recorded time. Shorter tests are not recorded.
SHORT = 0.1
# Mount tests of one process run one after the other, and other tests side by side.
SERIAL = "MountTests.Mounts/"


@dataclass
class Unit:
    """Tests that one process runs."""
    title: str
    tests: list
    seconds: float
    # Suites or single tests, from whose names the regular expressions for `--filter` are built.
    names: list = field(default_factory=list)
    # Tests of these suites that belong to another unit.
    without: list = field(default_factory=list)


def suite(test):
    """Returns the name of the suite with the slash after it: `MountTests.Mounts/PosixTests/`."""
    return test[:test.rindex("/") + 1]


def room(name):
    """Returns the kind of a suite. A unit has one kind, because only tests without mounts run in parallel in their process."""
    return "mounts" if name.startswith(SERIAL) else "rest"


def units(tests, times):
    """Returns the units, the longest first."""
    single = [test for test in tests if times.get(test, 0) >= LONG]
    result = [Unit(test, [test], times[test], [test]) for test in single]
    suites = {}
    for test in tests:
        if test not in set(single):
            suites.setdefault(suite(test), []).append(test)
    sums = {name: sum(times.get(test, SHORT) for test in its) for name, its in suites.items()}
    packs = {}
    for name in sorted(suites, key=lambda name: (-sums[name], name)):
        pack = next((pack for pack in packs.setdefault(room(name), []) if pack.seconds + sums[name] <= SHARED), None)
        if pack is None:
            pack = Unit("", [], 0)
            packs[room(name)].append(pack)
        pack.names.append(name)
        pack.tests += suites[name]
        pack.seconds += sums[name]
        pack.without += [test for test in single if suite(test) == name]
    for pack in (pack for group in packs.values() for pack in group):
        others = len(pack.names) - 1
        pack.title = pack.names[0].rstrip("/") + (f" and {others} more suites" if others else "")
        result.append(pack)
    return sorted(result, key=lambda unit: (-unit.seconds, unit.title))


def read_times(path):
    """Returns the seconds of each test, from lines of `SECONDS NAME`."""
    try:
        with open(path, encoding="utf-8") as file:
            return {name.strip(): float(seconds) for seconds, name in (line.split(" ", 1) for line in file)}
    except FileNotFoundError:
        return {}


def write_times(path, records):
    """Writes the times of tests that took at least half a second."""
    times = [(record.ended - record.began, record.name) for record in records if record.ended is not None]
    with open(path, "w", encoding="utf-8") as file:
        for seconds, name in sorted(times, key=lambda each: (-each[0], each[1])):
            if seconds >= 0.5:
                file.write(f"{seconds:.1f} {name}\n")
