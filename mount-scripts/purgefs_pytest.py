"""A pytest plugin: the fixture `container`, a fresh container of purgefs for each test.

    @pytest.mark.container(total="64M")
    def test_save(container):
        container.fill(leaving=0)
        with pytest.raises(OSError):
            (container.documents / "a").write_bytes(b"x")

Install the plugin by `pip install` with the folder of this file. Or put the folder into PYTHONPATH, or this file beside the
tests, and write `pytest_plugins = ["purgefs_pytest"]` in the project's conftest file; this line works with pip, too.

The verbs only read and write the control files of the mount (docs/CONTROL.md of purgefs) and extended attributes. The
container belongs to a `purgefs run` that ends when its pipe is closed, so it is unmounted and removed even if the tests are
killed. Tests may run in parallel (pytest-xdist). PURGEFS names the binary; by default it is in PATH. docs/HARNESSES.md has
examples. MIT license, like all of purgefs.
"""

import collections
import contextlib
import errno
import gc
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import traceback
import warnings
import zlib

import pytest

_MOUNT_OPTIONS = {
    "total", "others", "others_purgeable", "profile", "purge_latency", "protection", "state", "shared", "store", "log",
    "allow_other",
}
_FLAGS = {  # the names that `mark` takes, with their extended attributes
    "purgeable": "isPurgeable", "excluded": "isExcludedFromBackup", "protection": "fileProtection",
    "after": "purgeAfter", "limit": "sizeLimit", "group": "purgeGroup", "tombstone": "purgeTombstone",
}

_TYPES = {
    "mount", "unmount", "purge", "refused", "pressure", "capacity", "mark", "flagLost", "protectionDenied", "device", "clock",
    "app", "lockHeld", "terminated", "policy", "backup", "restore", "hostFull", "fault", "dropped", "removed", "renamed",
    "replaced",
}

_SIZE = "a size such as 4096, 64K, 1.5G or 64GB; + or - before it changes the present value"
_DURATION = "a duration such as 30s, 5m, 2h, 3d or 1w"
_ALLOWED = {  # what a control file or a flag accepts, for messages
    "storage.total": _SIZE, "storage.others": _SIZE, "storage.others.purgeable": _SIZE + "; at most others",
    "storage.others.share": "a whole number from 0 to 100", "storage.profile": "documented or device",
    "storage.thresholds": "off, default, or LEVEL=LIMIT separated by commas, where the levels verylow, low, nearlow and desired "
                          "rise in this order, also those not named, and a limit is a size or a percentage",
    "storage.purge.latency": _DURATION + ", or 0", "storage.policies": "check or reset",
    "storage.reclaim": "a size, tmp, caches, purgeable or all, and evenOpen before a place", "storage.plan": "a size, tmp, caches, purgeable or all",
    "device.state": "lock, unlock or reboot", "device.clock": "+ and " + _DURATION,
    "device.inactivity": _DURATION + ", or 0",
    "app.state": "launch, background, suspend, terminate, update, delete, offload or install",
    "journal.size": "0, or a size from 1M to 1G", "journal.age": _DURATION + ", or 0",
    "isPurgeable": "low, medium, high, True or False", "isExcludedFromBackup": "True or False",
    "fileProtection": "complete, completeUnlessOpen, completeUntilFirstUserAuthentication, completeWhenUserInactive or none",
    "purgeAfter": _DURATION + ", or 0; only on a folder", "sizeLimit": "a size such as 64K, or 0; only on a folder",
    "purgeGroup": "True or False; only on a folder", "purgeTombstone": "True or False; only on a folder",
}

Numbers = collections.namedtuple("Numbers", "total others used available important opportunistic reclaimable pressure")
Numbers.__doc__ = "The numbers of one moment, in bytes; pressure is normal, nearLow, low or veryLow."


class PurgeIncomplete(Exception):
    """Less was purged than requested. `purged` and `refused` are the lines of the answer."""

    def __init__(self, command, answer):
        self.purged = [line for line in answer if "refused" not in line]
        self.refused = [line for line in answer if "refused" in line]
        super().__init__(f"purging {command!r} freed only {sum(line.get('bytes', 0) for line in self.purged)} bytes"
                         + "".join(f"\n{line['path']}: {line['refused']}" for line in self.refused))


class Container:
    """A mounted container, which ends with `end` or as a context manager."""

    def __init__(self, **options):
        self.binary = os.environ.get("PURGEFS") or "purgefs"
        self._messages = open(os.memfd_create("purgefs"), "w+", errors="replace")
        self._events = None
        self._seen = []
        self._found = {}  # the newest purge of each path that expect_purge has returned
        self._rest = b""
        self._reading = threading.Lock()
        self._is_over = False  # whether the container has gone away, so that no more events come
        self._from = os.getcwd()
        words = [self.binary, "run", "--quiet", "--signals", "off"]
        for name in [name for name in options if name in _MOUNT_OPTIONS]:
            value = options.pop(name)
            if value is None or value is False:
                continue
            words += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
        # Away from the terminal's signals: the tests or the end of the pipe end the container.
        try:
            self._run = subprocess.Popen(
                words + ["--", "sh", "-c", 'printf "%s\\n" "$PURGEFS_MOUNT"; read -r end || :'],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._messages, start_new_session=True,
                env=_outside(os.environ))
        except OSError as error:
            self._messages.close()
            raise RuntimeError(
                f"{self.binary} cannot be run ({error.strerror}): PURGEFS names the binary, otherwise it is in PATH; "
                "`make build` leaves it in .build/release") from error
        try:
            line = self._run.stdout.readline()
            if not line.endswith(b"\n"):
                self._run.wait(30)
                raise RuntimeError(f"no container: {self._said() or self._run.returncode}")
            self.path = pathlib.Path(os.fsdecode(line[:-1]))
            self._events = os.open(self.path / ".purgefs/events", os.O_RDONLY | os.O_NONBLOCK)
            self.set(**options)
        except BaseException:
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Unmounts the container, and removes its store if that is temporary. Raises on failure. May be called twice."""
        if self._run is None:
            return
        is_there = not hasattr(self, "path") or self._is_there()
        if self._events is not None and is_there is not None:
            try:
                self._ask(self.events)  # for callers that read the events after the end
            except Exception:
                pass  # the daemon was killed or does not answer, which is reported below
        run, self._run = self._run, None
        self._leave()
        run.send_signal(signal.SIGCONT)  # in case it was stopped
        if self._events is not None:
            os.close(self._events)
            self._events = None
        try:
            try:
                run.stdin.write(b"end\n")  # processes that the test forked may keep the pipe open
                run.stdin.close()
            except BrokenPipeError:
                pass
            run.stdout.close()
            status = _wait(run)
            said = self._said()
        finally:
            self._messages.close()
        if status != 0 and hasattr(self, "path"):
            raise RuntimeError(f"the container ended with {status}: {said}")
        if is_there is False:
            raise RuntimeError("the container was gone before its end, because its daemon was killed or it was unmounted: "
                               f"{self.path} {said}")
        if "still in use" in said and hasattr(self, "path"):
            raise RuntimeError(f"the test left files of the container open; close them, also in a test that fails: {said}")
        if said and hasattr(self, "path"):
            warnings.warn(said)  # for example that others leave no room, which a test may want

    def _is_there(self):
        """Returns False if the daemon was killed or somebody unmounted it, and None if the daemon does not answer."""
        def ask():
            try:
                return bool((self.path / ".purgefs/status.json").read_bytes())
            except OSError:
                return False
        return _Question(ask).answer(5)

    def _ask(self, work):
        """Returns the result of `work`, which calls into the mount. Raises if the daemon does not answer."""
        question = _Question(work)
        for _ in range(60):
            question.answer(1)
            if not question.is_alive():
                if question.problem:
                    raise question.problem
                return question.answer(0)
            if self._is_there() is None:
                break
        raise RuntimeError(f"the daemon of the container does not answer (was it stopped?): {self.path}")

    def _check(self):
        if self._run is None:
            raise RuntimeError(f"the container has ended and can no longer be used: {getattr(self, 'path', '')}")

    def _leave(self):
        """Changes out of the container, which would stay in use and leave later tests in a folder that is gone."""
        try:
            inside = hasattr(self, "path") and pathlib.Path(os.getcwd()).is_relative_to(os.path.realpath(self.path))
        except OSError:
            inside = True
        if inside:
            os.chdir(self._from)

    def _said(self):
        self._messages.seek(0)
        return self._messages.read().strip()

    # Places

    documents = property(lambda self: self.path / "Documents")
    caches = property(lambda self: self.path / "Library/Caches")
    application_support = property(lambda self: self.path / "Library/Application Support")
    preferences = property(lambda self: self.path / "Library/Preferences")
    tmp = property(lambda self: self.path / "tmp")

    @property
    def environment(self):
        """The variables that point a program into the container, as `purgefs run` sets them."""
        return {**os.environ, "HOME": str(self.path), "CFFIXED_USER_HOME": str(self.path), "TMPDIR": str(self.tmp),
                "XDG_CACHE_HOME": str(self.caches), "XDG_DATA_HOME": str(self.application_support),
                "XDG_CONFIG_HOME": str(self.preferences), "PURGEFS_MOUNT": str(self.path)}

    def run(self, *words, **options):
        """Calls subprocess.run in this environment, with the output as text."""
        self._check()
        options = {"env": self.environment, "capture_output": True, "text": True, **options}
        if options["text"]:
            options.setdefault("errors", "surrogateescape")  # like the names of files
        return subprocess.run(words, **options)

    # Control files

    def read(self, name):
        """Returns the content of a control file."""
        return self._control(name).read_text().rstrip("\n")

    def write(self, name, command):
        """Sends one command to a control file."""
        if str(command) == "":
            raise ValueError(f"{name}: an empty command does nothing; allowed: {_ALLOWED.get(name, 'see docs/CONTROL.md')}")
        file = os.open(self._control(name), os.O_WRONLY)
        try:
            with _refusal(name, repr(command), name):
                os.write(file, os.fsencode(str(command)))
        finally:
            os.close(file)

    def set(self, **values):
        """Changes the device: total=, others=, others_purgeable=, others_share=, thresholds=, profile=, purge_latency=,
        device_inactivity=, journal_size=, journal_age=, in the given order. Values are 4096, "64K", "1.5G", "+1G",
        "verylow=5%,low=10%", "30m", ...
        """
        for name, value in values.items():
            file = name.replace("_", ".")
            file = file if file.startswith("journal.") or file == "device.inactivity" else "storage." + file
            if not os.path.exists(self._control(file)):
                raise TypeError(
                    f"a container has no {name}: it has total, others, others_purgeable, others_share, thresholds, "
                    "profile, purge_latency, device_inactivity, journal_size and journal_age, and when it is made also "
                    "protection, store, log and allow_other")
            self.write(file, value)

    @property
    def status(self):
        """The content of status.json as a dictionary."""
        return json.loads(self.read("status.json"))

    @property
    def numbers(self):
        status = self.status
        return Numbers(*(status["storage"][name] for name in Numbers._fields[:-1]), status["pressure"])

    def room(self, place="Documents"):
        """Returns how many bytes a write at a place may take now."""
        space = os.statvfs(self._inside(place))
        return space.f_bavail * space.f_frsize

    def fill(self, leaving=0, place="Documents"):
        """Makes the other apps of the device leave exactly `leaving` bytes to a write at a place.

        It returns when the purging that it causes is done. The room in Documents includes everything that purging would
        free, so after `fill(leaving=0)` no purge can help any more. tmp and Library/Caches then have less.
        """
        wanted = _bytes(leaving)
        if wanted % 4096:
            raise ValueError(f"{leaving} is not a multiple of 4096, the unit of all room")
        for _ in range(10):
            room = self.room(place)
            if room == wanted:
                return
            storage = self.status["storage"]
            if room < wanted:  # the room is never negative, so it may hide an excess
                self.set(others=storage["othersPurgeable"])
                storage, room = self.status["storage"], self.room(place)
            if room < wanted:
                raise ValueError(f"cannot leave {leaving} bytes free: {place} has only {room} bytes on an empty device")
            self.set(others=storage["others"] + room - wanted)
        raise RuntimeError(f"{self.room(place)} bytes are left, not {leaving}: is something else writing?")

    def purge(self, what, *, even_open=False):
        """Purges a size, "tmp", "caches", "purgeable" or "all", and returns dictionaries of what was purged.

        With even_open, open files in "tmp", "caches" or "purgeable" go too: their names, and their bytes once they are closed.
        """
        return self._answer("storage.reclaim", ("evenOpen " if even_open else "") + str(what))

    def purge_paths(self, *paths, even_open=False):
        """Purges exactly these files, and all files below these folders; with even_open, also open files."""
        if not paths:
            raise TypeError("purge_paths takes the paths of files or folders in the container")
        names = [self._name(self._inside(path)) for path in paths]
        word = "evenOpen paths" if even_open else "paths"
        return self._answer("storage.reclaim", "".join(f"{field}\0" for field in (word, *names)))

    def plan(self, what):
        """Returns what `purge` would purge now."""
        return self._answer("storage.plan", str(what))

    def _answer(self, name, command):
        file = os.open(self._control(name), os.O_RDWR)
        try:
            complete = True
            try:
                with _refusal(name, repr(command), name):
                    os.write(file, os.fsencode(command))
            except BlockingIOError:
                complete = False
            text = b""
            while piece := os.pread(file, 1 << 20, len(text)):
                text += piece
        finally:
            os.close(file)
        answer = [json.loads(line) for line in text.splitlines()]
        if not complete:
            raise PurgeIncomplete(command, answer)
        return answer

    def lock(self, *, wait=True):
        """Locks the device. Unless `wait` is False, the ten seconds pass in which protected files stay readable."""
        self.write("device.state", "lock")
        if wait and self.read("device.state") == "locking":
            self.advance("10s")

    def unlock(self):
        self.write("device.state", "unlock")

    def reboot(self):
        """Reboots the device. Afterwards tmp is empty, and the device has not been unlocked yet."""
        self.write("device.state", "reboot")

    def advance(self, duration):
        """Advances the clock by "30s", "5m", "2h", "3d" or "1w", so that all files look that much older."""
        self.write("device.clock", "+" + str(duration).lstrip("+"))

    def app(self, change):
        """Changes the state of the app: launch, background, suspend, terminate, update, delete, offload or install."""
        self.write("app.state", change)

    def app_process(self, pid):
        """Makes a process the app. It is stopped, continued and killed, with its descendants, as the state of the app says."""
        self.write("app.process", pid)

    def fail(self, *rules):
        """Sets rules of faults, such as "write@Documents/*#3=ENOSPC" (docs/FAULTS.md)."""
        self.write("faults", "\n".join(rules))

    def end_faults(self):
        """Removes all rules of faults, and ends a full device."""
        self.write("faults", "off")

    def mark(self, path, **flags):
        """Sets flags: purgeable="low" ("medium", "high", or False), excluded=True, protection="complete", and on a folder
        after="3d", limit="10M", group=True, tombstone=True.
        """
        if not flags:
            raise TypeError(f"mark takes a flag: {', '.join(_FLAGS)}")
        for name, value in flags.items():
            text = str(int(value)) if isinstance(value, bool) else str(value)
            if name not in _FLAGS:
                raise TypeError(f"unknown flag {name}; the flags are {', '.join(_FLAGS)}")
            with _refusal(path, f"{name}={value!r}", _FLAGS[name]):
                os.setxattr(self._inside(path), f"user.purgefs.{_FLAGS[name]}", os.fsencode(text))

    def attribute(self, path, name):
        """Returns an attribute of a file, or None if the file lacks it. NAME is a flag of `mark` or follows user.purgefs. (tier,
        isPurgeable, ...).
        """
        try:
            return os.fsdecode(os.getxattr(self._inside(path), f"user.purgefs.{_FLAGS.get(name, name)}"))
        except OSError as error:
            if error.errno == errno.ENODATA:
                return None
            raise OSError(error.errno, f"{path} has no attribute {name}: {error.strerror}") from None

    # Events

    def events(self, type=None, path=None, after=0):
        """Returns the events since the container was made, oldest first, as dictionaries.

        They can be limited to a type, to a path, or to events after a `position`. An event of type `dropped` says how many
        events before it were lost, which happens only if the journal is off or too short. After the end, this returns the
        events until then.
        """
        if type is not None and type not in _TYPES:
            raise ValueError(f"there is no event type {type!r}; the types are {', '.join(sorted(_TYPES))}")
        with self._reading:
            self._read_events()
        name = None if path is None else _shown(self._name(path))
        return [event for event in self._seen if event["seq"] > after
                and type in (None, event["type"]) and name in (None, event.get("path"))]

    def _read_events(self):
        while self._events is not None:
            try:
                piece = os.read(self._events, 1 << 20)
            except BlockingIOError:
                break
            except OSError:  # the daemon was killed
                piece = b""
            if not piece:
                self._is_over = True
                break
            *lines, self._rest = (self._rest + piece).split(b"\n")
            for line in lines:
                self._see(json.loads(line))

    def _see(self, event):
        """Adds an event, or the journal's events in place of a record of dropped ones, which stays for any that it lacks."""
        if event["type"] == "dropped":
            last = self._seen[-1]["seq"] if self._seen else 0
            missed = _missed(event)
            journal = self.run(self.binary, "events", str(self.path), "--json", check=True).stdout.splitlines()
            found = [line for line in map(json.loads, journal)
                     if last < line["seq"] <= event["seq"] and line["type"] != "dropped"][-missed:]
            self._seen += found
            if len(found) >= missed:
                return
            event["reason"] = f"{missed - len(found)} events"
        self._seen.append(event)

    @property
    def position(self):
        """The number of the newest event, for a later query of the events after it."""
        events = self.events()
        return events[-1]["seq"] if events else 0

    def expect_purge(self, path, within=10, *, after=None, during=None):
        """Waits until the file is purged, and returns the event.

        A purge counts if it came after the purge of this path that an earlier call returned, or after `after`, a
        `position`. With `during`, a function that is called here, it counts if it came after the start of the function.
        Raises RuntimeError if the daemon is gone or does not answer.
        """
        name = self._name(path)
        if after is not None and not isinstance(after, int):
            raise TypeError(f"after= takes a `position`, not {after!r}")
        if during is not None and not callable(during):
            raise TypeError("during= takes a function, such as lambda: container.set(others=\"56M\")")
        if during is not None:
            if after is not None:
                raise TypeError("during= and after= exclude each other: either says which purges count")
            after = self._ask(lambda: self.position)
            during()
        elif after is None:
            after = self._found.get(name, 0)
        begin = time.monotonic()
        while not (found := self._ask(lambda: self.events("purge", path, after))):
            self._check()
            if self._is_over:
                raise RuntimeError(f"the container is gone, because its daemon was killed or it was unmounted: {self.path}")
            waited = time.monotonic() - begin
            if waited >= within:
                raise AssertionError(self._why_not(name, after))
            time.sleep(min(max(waited / 8, 0.001), 0.02))
        self._found[name] = max(self._found.get(name, 0), found[-1]["seq"])
        return found[-1]

    def assert_not_purged(self, path, *, after=0):
        """Raises AssertionError, with the reason, if a file (not a folder) was purged since the container was made or after a
        `position`.

        Raises RuntimeError if the outcome is unknown, because events were lost or the container is gone.
        """
        name = self._name(self._ask(lambda: self._inside(path)) if self._run else path)
        found = self._ask(lambda: self.events("purge", name, after))
        if found and "\ufffd" in _shown(name):
            raise RuntimeError(f"cannot tell whether {_shown(name)} was purged: events spell several names this way")
        if found:
            raise AssertionError(f"{_shown(name)} was purged, event {found[-1]['seq']}. {self.why(name)}")
        if self._is_over and not self.events("unmount"):
            raise RuntimeError(f"the container is gone, because its daemon was killed or it was unmounted: {self.path}")
        if self._ask(lambda: self.events("dropped", after=after)):
            raise RuntimeError(f"cannot tell whether {_shown(name)} was purged: events were lost")

    def _why_not(self, name, after):
        why = self.why(name)
        name = _shown(name)
        missed = sum(_missed(event) for event in self.events("dropped", after=after))
        if missed:
            return (f"cannot tell whether {name} was purged: {missed} events came too fast, and the journal lacks them "
                    f"too. {why}")
        older = [event for event in self.events("purge") if event.get("path") == name]
        if older:
            why = f"Its last purge, event {older[-1]['seq']}, does not count: it is not after event {after}. {why}"
        return f"{name} was not purged. {why}"

    def why(self, path):
        """Returns the answer of `purgefs why` about a file."""
        outcome = self.run(self.binary, "why", str(self.path / self._name(path)), errors="replace")
        return (outcome.stdout or outcome.stderr).strip()

    def report(self, file):
        """Writes the page of `purgefs report`."""
        outcome = self.run(self.binary, "report", str(self.path), "--output", str(file), errors="replace")
        if outcome.returncode != 0:
            raise RuntimeError(outcome.stderr.strip())

    def _control(self, name):
        self._check()
        return self.path / ".purgefs" / name

    def _inside(self, path):
        """Returns the place of a path. Raises if that is not in the container, also if links in its folder lead out."""
        self._check()
        root = pathlib.Path(os.path.realpath(self.path))
        place = self.path / self._name(path)
        if place != self.path:
            place = pathlib.Path(os.path.realpath(place.parent), place.name)
        if not place.is_relative_to(root) and not place.is_relative_to(self.path):
            raise self._stranger(path)
        return place

    def _name(self, path):
        """Returns a path relative to the container, without a look into it: its daemon may not answer."""
        place = pathlib.Path(os.path.normpath(self.path / os.fsdecode(path)))
        if not place.is_relative_to(self.path):
            raise self._stranger(path)
        return os.path.relpath(place, self.path)

    def _stranger(self, path):
        return ValueError(f"{os.fsdecode(path)} is not in the container {self.path}")


class _Question(threading.Thread):
    """Work on its own thread, which continues alone if nobody waits for it any more."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self._work, self._result, self.problem = work, None, None
        self.start()

    def run(self):
        try:
            self._result = self._work()
        except BaseException as problem:
            self.problem = problem

    def answer(self, seconds):
        """Waits for the result; returns None if there is none in time."""
        self.join(seconds)
        return self._result


@contextlib.contextmanager
def _refusal(who, what, kind):
    """Adds what was refused to an OSError, which has a path at most, and if the value is wrong, which values are allowed."""
    try:
        yield
    except OSError as error:
        allowed = f"; allowed: {_ALLOWED[kind]}" if error.errno == errno.EINVAL and kind in _ALLOWED else ""
        raise OSError(error.errno, f"{who} has refused {what}: {error.strerror}{allowed}") from None


def _outside(environment):
    """Returns the environment without a TMPDIR in a container, where no store can be."""
    inside, place = environment.get("PURGEFS_MOUNT"), environment.get("TMPDIR", "")
    return {name: value for name, value in environment.items()
            if name != "TMPDIR" or not inside or not pathlib.Path(place).is_relative_to(inside)}


def _shown(name):
    """Returns a name in the form of events, where bytes that are not UTF-8 are U+FFFD."""
    return os.fsencode(name).decode(errors="replace")


def _wait(run):
    for step in (run.terminate, run.kill):
        try:
            return run.wait(20)
        except subprocess.TimeoutExpired:
            step()
    return run.wait(20)


def _missed(event):
    """Returns the number of events that an event of type `dropped` stands for."""
    number = event.get("reason", "").split(" ")[0]
    return int(number) if number.isdigit() else 0


def _bytes(size):
    match = re.fullmatch(r"(\d+)(?:([KMGT])(i?B)?)?", str(size))
    if not match:
        raise ValueError(f"{size!r} is not a size: 4096, 64K, 1M or 64MiB in powers of 1024, 64MB in powers of 1000")
    return int(match[1]) * (1000 if match[3] == "B" else 1024) ** " KMGT".index(match[2] or " ")


# A fault at each call

_KINDS = ("open", "create", "read", "write", "sync", "rename", "unlink", "mkdir", "truncate", "setxattr")
_FAULTS = {  # as the faults of `purgefs sweep`: at calls of these kinds, and what a rule says
    "error": (_KINDS, "#{}=EIO"), "errors": (_KINDS, "#{}+=EIO"), "full": (("write",), "#{}=full"),
    "short": (("read", "write"), "#{}=short"), "purge": (_KINDS, "#{}=purge"), "lock": (_KINDS, "#{}=lock"),
}


def sweep(test=None, *, moments=tuple(_FAULTS), most=None):
    """Runs a test once without a fault, and once more for each fault at each call that it makes in `with moment:`.

        @purgefs_pytest.sweep(moments=["error", "full"])
        @pytest.mark.container(total="64M")
        def test_save(container, moment):
            with moment:
                save(container.documents / "count")
            assert load(container.documents / "count") in (41, 42)

    `moments` has error, errors, full, short, purge and lock (docs/SWEEP.md of purgefs); `most` limits the number of faults,
    which are then spread evenly. To count the calls, the test is run once while pytest collects the tests, so it may take no
    fixtures but `container`, `container_home` and `moment`. If the calls cannot be counted, a case `not counted` fails.
    """
    names = () if isinstance(moments, str) else tuple(moments)
    if not names or not set(names) <= set(_FAULTS) or not (most is None or most > 0):
        raise ValueError(f"sweep(moments={moments!r}, most={most!r}): moments is a list of {', '.join(_FAULTS)}; most is above 0")
    mark = pytest.mark.purgefs_sweep(moments=names, most=most)
    return mark if test is None else mark(test)


class Moment:
    """A fault at one call. It is in force in `with moment:`; afterwards the device is well again.

    `rule` is the rule of the fault (docs/FAULTS.md), or None in the case without one. `met` says whether a call has met the
    fault. `error` is the exception that the code has raised after that: unless it is an AssertionError, it does not leave
    `with moment:`.
    """

    def __init__(self, container, rule, counts=False):
        self.container, self.rule, self.met, self.error = container, rule, False, None
        self.calls = None
        self._counts = counts
        self._is_used = False

    def __enter__(self):
        if self._is_used:
            raise RuntimeError("a test has one `with moment:`")
        self._is_used = True
        self._begin = self.container.position
        if self._counts:
            self.container.fail(*(f"{kind}=0ms" for kind in _KINDS))  # leaves an event of each call
        elif self.rule:
            self.container.fail(self.rule)
        return self

    def __exit__(self, kind, error, trace):
        rules = self.container.read("faults").splitlines()
        self.container.end_faults()
        self.container.unlock()
        self.container.app("launch")
        if self._counts:
            if self.container.events("dropped", after=self._begin):
                raise RuntimeError("the code makes more calls than can be counted")
            met = [event["reason"] for event in self.container.events("fault", after=self._begin)]
            self.calls, counts = [], collections.Counter()
            for kind in (rule[:-len("=0ms")] for rule in met if rule in {f"{each}=0ms" for each in _KINDS}):
                counts[kind] += 1
                self.calls.append(f"{kind}#{counts[kind]}")
            return False
        self.met = any(line.split(" ", 2)[1:] != ["0", self.rule] for line in rules if line.split(" ", 2)[2] == self.rule)
        if self.rule and not self.met and error is None:
            warnings.warn(f"the code made fewer calls than when they were counted: the fault {self.rule} met none")
        if self.met and isinstance(error, Exception) and not isinstance(error, AssertionError):
            _clear_frames(error)
            self.error = error
            return True
        return False


def _clear_frames(error, seen=()):
    """Forgets the variables of the code, which would keep its files open."""
    if error is not None and error not in seen:
        traceback.clear_frames(error.__traceback__)
        for other in (error.__cause__, error.__context__):
            _clear_frames(other, (*seen, error))


def _rules(calls, moments, most):
    """Returns the rules of the faults at these calls, such as "write#3", at most as many as `most`: as `purgefs sweep` does,
    the groups with one fault and one kind of call take turns, and each group gives rules from its whole course."""
    groups = [[kind + form.format(number) for each, number in (call.split("#") for call in calls) if each == kind]
              for kinds, form in (_FAULTS[name] for name in moments) for kind in _KINDS if kind in kinds]
    shares = [len(group) for group in groups]
    if most is not None and most < sum(shares):
        shares, left = [0] * len(groups), most
        while left:
            for number, group in enumerate(groups):
                if left and shares[number] < len(group):
                    shares[number], left = shares[number] + 1, left - 1
    return [group[number * len(group) // share] for group, share in zip(groups, shares) for number in range(share)]


class _Misuse(TypeError):
    pass


class _NotCounted:
    """A parameter of `moment` instead of a rule."""

    def __init__(self, reason):
        self.reason = reason


def _calls(metafunc):
    """Runs a test without a fault, and returns the calls that it makes in `with moment:`."""
    parameters = inspect.signature(metafunc.function).parameters.values()
    names = {each.name for each in parameters if each.default is each.empty} - {"self"}
    if others := sorted(names - {"container", "container_home", "moment"}):
        raise _Misuse(
            f"{metafunc.function.__name__} takes {', '.join(others)}: a test with purgefs_pytest.sweep takes only container, "
            "container_home and moment, because it is run once while pytest collects")
    with Container(**_options(metafunc.definition)) as container, pytest.MonkeyPatch.context() as patch:
        moment = Moment(container, None, counts=True)
        values = {"container": container, "container_home": container, "moment": moment}
        if "container_home" in metafunc.fixturenames:  # also if an autouse fixture takes it
            _go_home(container, patch)
        try:
            metafunc.function(*([metafunc.cls()] if metafunc.cls else []), **{name: values[name] for name in names})
        finally:
            gc.collect()
        return moment.calls or []


# The plugin

_KEY = pytest.StashKey()


def pytest_addoption(parser):
    parser.getgroup("purgefs").addoption(
        "--purgefs-reports", metavar="DIR", help="write the page of `purgefs report` of each failing test to DIR")


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "container(total=, others=, profile=, thresholds=, ...): the device of the fixture `container`")
    config.addinivalue_line("markers", "purgefs_sweep(moments=, most=): what purgefs_pytest.sweep puts on a test")


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("purgefs_sweep")
    if not mark:
        return
    if "moment" not in metafunc.fixturenames:
        raise TypeError(f"{metafunc.function.__name__} has purgefs_pytest.sweep, but does not take `moment`")
    try:
        rules = _rules(_calls(metafunc), **mark.kwargs)
        problem = "it makes no call in `with moment:` that the faults can meet"
    except _Misuse:
        raise
    except (pytest.skip.Exception, pytest.xfail.Exception):
        metafunc.parametrize("moment", [None], indirect=True, ids=["no fault"])
        return
    except (Exception, pytest.fail.Exception) as error:
        rules, problem = [], f"{type(error).__name__}: {error}"
    ids = ["no fault", *rules] if rules else ["no fault", "not counted"]
    metafunc.parametrize("moment", [None, *(rules or [_NotCounted(problem)])], indirect=True, ids=ids)


@pytest.fixture
def moment(request, container):
    """The fault of this case of a test with purgefs_pytest.sweep."""
    if not hasattr(request, "param"):
        raise TypeError("a test that takes `moment` needs purgefs_pytest.sweep")
    if isinstance(request.param, _NotCounted):
        pytest.fail(f"the calls of the test could not be counted: {request.param.reason}", pytrace=False)
    return Moment(container, request.param)


@pytest.fixture
def make_container(request):
    """Makes containers for one test: make_container(total="64M", others="8M")."""
    made = request.node.stash.setdefault(_KEY, [])

    def make(*others, **options):
        if others:
            raise TypeError(f"make_container takes options by name, as total=\"64M\", and not {others[0]!r}")
        made.append(Container(**options))
        return made[-1]

    yield make
    gc.collect()  # objects in cycles, such as connections of SQLite, keep files open
    problems = []
    for container in made:
        try:
            container.end()
        except Exception as problem:
            problems.append(str(problem))
    made.clear()
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.fixture
def container(request, make_container):
    """A fresh container, with the options of the marker `container` (the nearest wins) and of a parameter."""
    return make_container(**{**_options(request.node), **getattr(request, "param", {})})


def _options(node):
    """Returns the options in the markers `container` of a test."""
    options = {}
    for mark in reversed(list(node.iter_markers("container"))):
        if mark.args:
            raise TypeError(f"the marker `container` takes options by name, as total=\"64M\", and not {mark.args[0]!r}")
        options.update(mark.kwargs)
    return options


@pytest.fixture
def container_home(container, monkeypatch, tmp_path_factory):
    """The fixture `container`, with the variables of `purgefs run` set for code in this process: HOME, TMPDIR and others.

    `pathlib.Path.home()`, `tempfile` and libraries that read XDG_CACHE_HOME then find the container.
    """
    tmp_path_factory.getbasetemp()  # pytest makes it once a session, so it must not be in the container
    _go_home(container, monkeypatch)
    return container


def _go_home(container, patch):
    for name, value in container.environment.items():
        if os.environ.get(name) != value:
            patch.setenv(name, value)
    patch.setattr(tempfile, "tempdir", None)  # the place that tempfile has found before


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    made = item.stash.get(_KEY, [])
    if made and (report.when == "call" or report.failed and report.when == "setup"):
        _remove_pages(item)
    if not report.failed or report.when == "teardown":
        return
    for number, container in enumerate(made):
        try:
            try:
                container._ask(container.events)
            finally:
                lines = [json.dumps(event) for event in container._seen]
                report.sections.append((f"purgefs events of {container.path}", "\n".join(lines) or "none"))
                counts = collections.Counter(event["type"] for event in container._seen)
                # A JUnit file (--junitxml) has these as properties of the test.
                item.user_properties.append(
                    ("purgefs-events", ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))))
            report.sections.append(("purgefs numbers", str(container._ask(lambda: container.numbers))))
            page = _page(item)
            if page:
                page = page.with_name(page.name + (f"+{number}" if len(made) > 1 else "") + ".html")
                file = item.config.invocation_params.dir / page  # the test may have changed the working directory
                os.makedirs(file.parent, exist_ok=True)
                container._ask(lambda: container.report(file))
                item.user_properties.append(("purgefs-report", str(page)))
                report.sections.append(("purgefs report", str(page)))
                # For the JUnit file only: the form in which Jenkins and GitLab find attachments in the output of a test.
                item.add_report_section("call", "stdout", f"[[ATTACHMENT|{file}]]\n")
        except Exception as problem:  # the test's own failure is what counts
            report.sections.append(("purgefs", f"not all of it can be shown: {problem}"))


def _remove_pages(item):
    """Removes the pages of an earlier run of a test."""
    page = _page(item)
    if not page:
        return
    page = item.config.invocation_params.dir / page
    for each in [page.with_name(page.name + ".html"), *page.parent.glob(page.name + "+*.html")]:
        with contextlib.suppress(OSError):
            with open(each, "rb") as file:
                is_page = file.read(15) == b"<!DOCTYPE html>"
            if is_page:
                each.unlink()


def _page(item):
    """Returns the place of a test's page without its ending, or None if no pages are wanted."""
    folder = item.config.getoption("--purgefs-reports")
    if not folder:
        return None
    name = re.sub(r"::|[^\w.-]+", "-", item.nodeid).strip("-").encode()[:200].decode(errors="ignore")
    if len(item.nodeid) > 200 or not re.fullmatch(r"[\w./]+(::\w+)+(\[[\w.]+\])?", item.nodeid):
        # Without it, different tests could have one page: each of these characters becomes a hyphen.
        name += f"-{zlib.crc32(item.nodeid.encode(errors='surrogateescape')):08x}"
    return pathlib.Path(folder, name)
