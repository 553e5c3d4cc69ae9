"""Creates stores as an attacker could, and gives each to purgefs.

usage: hostile_stores.py PURGEFS DIRECTORY SEED COUNT MOUNT_EVERY [NUMBER]

PURGEFS itself makes a sound store in DIRECTORY. COUNT copies of it get one to four random changes each, and go to `status`,
`check`, `check --repair` and `check`. Every MOUNT_EVERYth copy is also mounted for a few operations. A verb must end by itself,
with 0 or 1, before a deadline. Nothing outside the store may change, and `status` and `check` must not change the store either.
Prints a line for each finding, with the seed that makes the store again and the changes that were made. Ends with 1 if there
was a finding.
"""
import hashlib, os, random, shutil, socket, stat, subprocess, sys, time

purgefs, place, seed, count, mount_every = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
place = os.path.realpath(place)
DEADLINE = 30
sys.setrecursionlimit(10_000)  # for os.walk of deep folders
RECORD = b"user.purgefs.extents"
findings = 0
done = []  # the changes that make the current store hostile


def finding(number, text):
    global findings
    findings += 1
    print(f"seed {seed} store {number} {done}: {text}", flush=True)


def run(words, number, allowed=(0, 1)):
    """Returns the exit status of a verb and its messages. The status is None if the verb had to be killed."""
    try:
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        finding(number, f"hangs: {words[1:]}")
        return None, b""
    if ended.returncode not in allowed:
        finding(number, f"{words[1:3]} ended with {ended.returncode}: {ended.stderr[-600:]!r}")
    return ended.returncode, ended.stdout + ended.stderr


class Mount:
    def __init__(self, store, number):
        self.store, self.number, self.point = store, number, os.path.join(place, "mount")
        os.makedirs(self.point, exist_ok=True)
        self.log = open(os.path.join(place, "log"), "w+b")
        self.daemon = subprocess.Popen(
            [purgefs, "mount", "--foreground", store, self.point], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True)
        end = time.monotonic() + DEADLINE
        while self.daemon.poll() is None and not self.is_mounted() and time.monotonic() < end:
            time.sleep(0.002)
        self.works = self.is_mounted()
        if self.daemon.poll() is None and not self.works:
            finding(number, "the mount hangs")
            self.daemon.kill()

    def is_mounted(self):
        with open("/proc/self/mountinfo", errors="surrogateescape") as table:
            if not any(line.split()[4] == self.point for line in table):
                return False
        try:
            os.stat(self.point + "/.purgefs/status.json")
        except PermissionError:  # also if the container may not be read
            return True
        except OSError:
            return False
        return True

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        if self.works:
            for _ in range(500):
                if subprocess.run(["fusermount3", "-u", self.point], capture_output=True).returncode == 0:
                    break
                time.sleep(0.01)
        try:
            status = self.daemon.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            finding(self.number, "the daemon does not end")
            self.daemon.kill()
            status = self.daemon.wait()
        if status not in ((0,) if self.works else (1,)):
            finding(self.number, f"the daemon ended with {status}: {self.said()[-600:]!r}")
        if self.is_mounted():
            finding(self.number, "is still a mount")
            subprocess.run(["fusermount3", "-uz", self.point], capture_output=True)
        self.log.close()


OPERATIONS = r"""
import os, sys
# A hostile store may make these calls fail, but never hang.
def attempt(work, *words):
    try: return work(*words)
    except OSError: return None
os.chdir(sys.argv[1])
files = []
for folder, folders, names in os.walk("."):
    if folder.count("/") > 20: folders.clear()
    if ".purgefs" in folders: folders.remove(".purgefs")  # its `events` has no end
    files += [os.path.join(folder, name) for name in names[:30]]
for path in files[:60]:
    status = attempt(os.lstat, path)
    if status is None or (status.st_mode & 0o170000) != 0o100000: continue
    attempt(os.listxattr, path)
    attempt(os.getxattr, path, "user.purgefs.isPurgeable")
    attempt(os.setxattr, path, "user.purgefs.extents", b"s../../outside/canary")
    attempt(os.setxattr, path, "user.purgefs.isPurgeable", b"low")
    fd = attempt(os.open, path, os.O_RDWR)
    if fd is None: continue
    attempt(os.pread, fd, 4096, 0)
    attempt(os.pwrite, fd, b"x" * 5000, 4096)
    attempt(os.posix_fallocate, fd, 1 << 20, 8192)
    attempt(os.fsync, fd)
    attempt(os.ftruncate, fd, 12288)
    for moment in (-1 << 62, 0, status.st_mtime_ns - 10**14, 1 << 62): attempt(lambda: os.utime(path, ns=(moment, moment)))
    attempt(os.getxattr, path, "user.purgefs.creationDate")
    os.close(fd)
for path in files[:60:3]: attempt(os.unlink, path)
for path in files[1:60:3]: attempt(os.rename, path, path + "x")
attempt(os.mkdir, "new")
with open("new/file", "wb") as file: file.write(b"y" * 20000)
def command(name, text):
    fd = os.open(".purgefs/" + name, os.O_WRONLY)
    try: os.write(fd, text)
    finally: os.close(fd)
for name, text in [("device.clock", b"+2d"), ("storage.others", b"4096"), ("storage.reclaim", b"all")]:
    attempt(command, name, text)
attempt(lambda: open(".purgefs/status.json").read())
"""


def make_template():
    """Creates folders, marks, holes, hard links, events, and lists of extents in an attribute and in a sidecar."""
    store = os.path.join(place, "template")
    mount = Mount(store, -1)
    assert mount.works, mount.said()
    at = lambda path: os.path.join(mount.point, path)
    for folder in ("Documents/a/b/c", "Library/Caches/d", "tmp/e"):
        os.makedirs(at(folder))
    for name in ("Documents/plain", "Documents/a/b/c/deep", "Library/Caches/d/cached", "tmp/e/temporary"):
        with open(at(name), "wb") as file:
            file.write(os.urandom(9000))
    os.setxattr(at("Documents/plain"), "user.purgefs.isPurgeable", b"low")
    os.setxattr(at("Documents/a"), "user.purgefs.fileProtection", b"complete")
    os.link(at("Documents/plain"), at("Documents/second"))
    os.symlink("/etc/passwd", at("Documents/link"))
    fd = os.open(at("Documents/holes"), os.O_RDWR | os.O_CREAT, 0o644)
    os.pwrite(fd, b"z" * 4096, 1 << 20)
    os.posix_fallocate(fd, 0, 8192)
    os.close(fd)
    fd = os.open(at("Library/fragmented"), os.O_RDWR | os.O_CREAT, 0o644)
    os.ftruncate(fd, 4096 * 2000)
    for block in range(0, 1200, 4):
        os.posix_fallocate(fd, 4096 * block, 4096)
    os.close(fd)
    for _ in range(2):
        with open(at(".purgefs/device.clock"), "w") as clock:
            clock.write("+3d")
    passed = time.time_ns() - 86_400 * 10**9
    for name in ("Documents/plain", "Documents/a", "tmp/e/temporary"):
        os.utime(at(name), ns=(passed, passed))
    os.utime(at("Documents/link"), ns=(passed, passed), follow_symlinks=False)
    mount.end()
    assert os.listdir(store + "/extents"), "no sidecar"
    assert "user.purgefs.times" in os.listxattr(store + "/container/Documents/plain"), "no times"
    return store


def copy(source, target):
    """Copies a store with its attributes, holes and hard links."""
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


def outside():
    """Returns the content, times and names of the files beside the stores."""
    folder = os.path.join(place, "outside")
    return {name: digest(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}


def is_odd(path):
    """Returns whether something other than a file was put there earlier. Opening it could block or lead elsewhere."""
    return os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode)


def digest(path):
    status = os.lstat(path)
    content = b""
    if stat.S_ISREG(status.st_mode) and status.st_size < 1 << 24:
        try:
            with open(path, "rb") as file:
                content = file.read()
        except PermissionError:
            pass
    elif stat.S_ISLNK(status.st_mode):
        content = os.readlink(os.fsencode(path))
    try:
        attributes = [(name, os.getxattr(path, name, follow_symlinks=False))
                      for name in os.listxattr(path, follow_symlinks=False)]
    except OSError:
        attributes = []
    return (status.st_mode, status.st_nlink, status.st_size, status.st_mtime_ns,
            status.st_ctime_ns, hashlib.sha256(content).digest(), hash(tuple(attributes)))


def tree(store):
    """Returns a digest of every entry of a store, to detect changes."""
    found = {}
    for folder, folders, names in os.walk(os.fsencode(store)):
        for name in [b"."] + folders + names:
            path = os.path.join(folder, name)
            try:
                found[path] = digest(path)
            except OSError:
                found[path] = None
    return found


class Hostile:
    def __init__(self, store, number):
        self.store, self.random = store, random.Random(seed * 1_000_003 + number)
        done.clear()
        for _ in range(self.random.randint(1, 4)):
            if os.path.islink(self.path("container")):
                break  # the next change would follow the link
            change = self.random.choice(self.CHANGES)
            done.append(change.__name__)
            try:
                change(self)
            except Exception as error:  # the change does not work on a store that an earlier one has changed
                done.append(f"({error})")

    def path(self, *names):
        return os.path.join(self.store, *names)

    def files(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.path("container")) for name in names
                if stat.S_ISREG(os.lstat(os.path.join(folder, name)).st_mode)]

    def a_file(self):
        return self.random.choice(sorted(self.files()) or [self.path("container")])

    def a_folder(self):
        return self.random.choice(sorted(folder for folder, _, _ in os.walk(self.path("container"))))

    def noise(self, most):
        return self.random.randbytes(self.random.randint(0, most))

    # Changes to attributes.
    def record(self):
        up = self.random.choice([
            b"s../../outside/canary", b"s" + os.fsencode(os.path.join(place, "outside", "canary")), b"s..", b"s.", b"s",
            b"s/", b"s../device.json", b"s../journal.sqlite", b"s\0x", b"sabc", b"", b"i", b"x", b"i\x80", b"i" + b"\xff" * 9,
            b"i" + b"\0" * 400, b"i\0" + b"\xff" * 8 + b"\x7f", b"i" + self.noise(60), b"s" + self.noise(12), self.noise(3000),
            b"i\0\xff\xff\xff\xff\x0f", b"i\xfe\xff\xff\xff\x0f\x01"])
        os.setxattr(self.a_file(), RECORD, up)

    def copied_record(self):
        sidecars = os.listdir(self.path("extents"))
        os.setxattr(self.a_file(), RECORD, b"s" + os.fsencode(self.random.choice(sidecars)))

    def mark(self):
        name = self.random.choice(["isPurgeable", "isExcludedFromBackup", "fileProtection", "purgeAfter", "sizeLimit",
                                   "probe", "unknown", "raw.", "raw.user.purgefs.extents"])
        target = self.random.choice([self.a_file(), self.a_folder()])
        os.setxattr(target, "user.purgefs." + name, self.random.choice([b"", b"high", self.noise(100), self.noise(3500)]))

    def times(self):
        target = self.random.choice([self.a_file(), self.a_folder()])
        numbers = [b"0", b"-1", b"1763700000", b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b""]
        entry = lambda: b"%s%s.%s+%s" % (
            self.random.choice([b"a", b"m", b"x", b""]), self.random.choice(numbers),
            self.random.choice([b"000000000", b"999999999", b"1", b"9999999999"]),
            self.random.choice(numbers + [b"4294967296", b"4294967297"]))
        os.setxattr(target, "user.purgefs.times", self.random.choice(
            [entry(), entry() + b" " + entry(), b"", self.noise(60), self.noise(3000), b"m0.000000000+0 " * 200]))
        moment = self.random.choice([0, -1, 1 << 33, -(1 << 31), (1 << 62), -(1 << 62), 4_000_000_000]) * 10**9
        os.utime(target, ns=(moment, moment + 999_999_999))

    def many_names(self):
        target = self.random.choice([self.a_file(), self.a_folder()])
        for index in range(300):
            os.setxattr(target, ("user." + str(index)).ljust(245, "n"), b"")

    # Changes to sidecars.
    def sidecar(self):
        folder = self.path("extents")
        path = os.path.join(folder, self.random.choice(os.listdir(folder)))
        what = self.random.randrange(9)
        if is_odd(path):
            return
        if what == 0:
            os.truncate(path, self.random.choice([0, 1, 2 << 30, 1 << 40]))
        elif what == 1:
            with open(path, "r+b") as file:
                file.seek(self.random.randrange(os.path.getsize(path)))
                file.write(self.noise(20))
        elif what == 2:
            with open(path, "wb") as file:
                file.write(b"\x00\x01" * self.random.choice([1, 1000, 100_000]))
        elif what == 3:
            with open(path, "wb") as file:
                file.write(b"\x01\x01" * self.random.choice([100_000, 3_000_000]))
        else:
            self.replace(path)

    def extents_folder(self):
        self.replace(self.path("extents"))

    def stray(self):
        for name in ("stray", "..new", "a\nb", "x" * 255):
            open(self.path("extents", name), "wb").close()
        os.mkdir(self.path("extents", "folder"))

    def replace(self, path):
        """Replaces an entry with something else."""
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
        what = self.random.randrange(8)
        if what == 0:
            os.mkfifo(path)
        elif what == 1:
            os.mkdir(path)
        elif what == 2:
            os.symlink("/", path)
        elif what == 3:
            os.symlink(os.path.join(place, "outside", "canary"), path)
        elif what == 4:
            os.symlink(os.path.basename(path), path)
        elif what == 5:
            with socket.socket(socket.AF_UNIX) as made:
                here = os.getcwd()
                os.chdir(os.path.dirname(path))
                try:
                    made.bind(os.path.basename(path))
                finally:
                    os.chdir(here)
        elif what == 6:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5) if os.geteuid() == 0 else 0)
        else:
            with open(path, "wb"):
                pass

    # Changes to device.json.
    def settings(self):
        path = self.path("device.json")
        if is_odd(path):
            return
        with open(path, "rb") as file:
            text = bytearray(file.read(1 << 22))
        what = self.random.randrange(11)
        numbers = [b"-1", b"1", b"4095", b"1152921504606846976", b"9223372036854775807", b"9223372036854775808",
                   b"-9223372036854775808", b"1e400", b"1e18", b"0.5", b"null", b"true", b'"x"', b"[]", b"{}"]
        if what == 0:
            for _ in range(self.random.randint(1, 3)):
                text[self.random.randrange(len(text))] ^= 1 << self.random.randrange(8)
        elif what == 1:
            del text[self.random.randrange(len(text)):]
        elif what == 2:
            text = bytearray(self.random.choice([b"[", b'{"a":']) * self.random.choice([10, 512, 513, 100_000]))
        elif what in (3, 4, 5):
            lines = bytes(text).split(b"\n")
            index = self.random.choice([i for i, line in enumerate(lines) if b'": ' in line and b"{" not in line])
            name = lines[index].split(b'": ')[0]
            lines[index] = name + b'": ' + self.random.choice(numbers) + (b"," if lines[index].endswith(b",") else b"")
            text = bytearray(b"\n".join(lines))
        elif what == 6:
            text = bytearray(bytes(text).replace(b'"version": 1', b'"version": 1, "version": 1, "total": 4096', 1))
        elif what == 7:
            text = bytearray(self.noise(2000))
        elif what == 8:
            text = bytearray(b" " * 2_000_000) + text
        elif what == 9:
            os.truncate(path, 1 << 40)
            return
        else:
            return self.replace(path)
        with open(path, "wb") as file:
            file.write(text)

    def aside(self):
        for name in ("device.json.new", "device.json.damaged-1", "journal.sqlite.new", "journal.sqlite.damaged-1"):
            self.replace(self.path(name))

    # Changes to the journal.
    def journal(self):
        import sqlite3
        path = self.path("journal.sqlite")
        if any(is_odd(path + end) for end in ("", "-wal", "-shm", "-journal")):
            return
        what = self.random.randrange(9)
        if what == 0:
            self.replace(path)
        elif what == 1:
            self.replace(path + self.random.choice(["-wal", "-shm", "-journal"]))
        elif what == 2:
            with open(path, "r+b") as file:
                for _ in range(self.random.randint(1, 30)):
                    file.seek(self.random.randrange(os.path.getsize(path)))
                    file.write(self.noise(8))
        elif what == 3:
            os.truncate(path, self.random.choice([0, 1, 100, 4096, 5000, 1 << 40]))
        elif what == 4:
            with open(path + self.random.choice(["-wal", "-journal"]), "wb") as file:
                file.write(self.noise(20_000))
        else:
            statements = [
                "UPDATE events SET seq = 9223372036854775807 WHERE seq = (SELECT max(seq) FROM events)",
                "UPDATE events SET seq = -9223372036854775808 WHERE seq = (SELECT max(seq) FROM events)",
                "INSERT OR REPLACE INTO last_uses SELECT 1, -1, 9223372036854775807",
                "UPDATE last_uses SET last_use = -9223372036854775808, birth = 9223372036854775807",
                "UPDATE last_uses SET last_use = 'text', birth = x'00'",
                "UPDATE events SET type = 'nonsense', bytes = 9223372036854775807, pid = -1, time = 'x'",
                "UPDATE events SET path = CAST(zeroblob(1000000) AS TEXT)",
                "DROP TABLE events", "DROP TABLE last_uses", "PRAGMA user_version = 2147483647",
                "PRAGMA application_id = 1", "CREATE TABLE more(x)",
                "DROP TABLE events; CREATE VIEW events AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 "
                "FROM n) SELECT seq, 'x' time, 'purge' type, 'p' path, 'tmp' tier, 1 bytes, 'r' reason, 't' trigger, "
                "1 pid FROM n",
                "DROP TABLE last_uses; CREATE VIEW last_uses AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + "
                "1 FROM n) SELECT i inode, 0 birth, i last_use FROM n",
                "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM last_uses; END"]
            with sqlite3.connect(path) as database:
                database.executescript(self.random.choice(statements))
            database.close()

    # Changes to the container's entries.
    def entry(self):
        self.replace(self.random.choice([self.a_file(), self.a_folder()]))

    def container(self):
        self.replace(self.path("container"))

    def odd_names(self):
        folder = os.fsencode(self.a_folder())
        for name in (b"\xff\xfe", b"a\nb\x1b[31m", b"n" * 255, b"-rf", b" ", b".purgefs", b"\xed\xa0\x80", b"a\\"):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(b"odd")
            if self.random.random() < 0.5:
                os.setxattr(path, RECORD, b"nonsense")

    def modes(self):
        for _ in range(3):
            path = self.random.choice([self.a_file(), self.a_folder(), self.path("device.json"), self.path("extents")])
            os.chmod(path, self.random.choice([0, 0o100, 0o222, 0o444, 0o555, 0o777, 0o7777]))

    def sizes(self):
        os.truncate(self.a_file(), self.random.choice([0, 1, 4097, 1 << 31, 1 << 40, (1 << 44) - 4096]))

    def deep(self):
        folder = os.open(self.a_folder(), os.O_RDONLY)
        for _ in range(self.random.choice([50, 400, 1500])):
            os.mkdir("d", dir_fd=folder)
            inner = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(os.open("bottom", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=folder))
        os.close(folder)

    def inner_store(self):
        self.replace(self.path("container", ".purgefs"))

    CHANGES = [record, record, record, copied_record, mark, times, many_names, sidecar, sidecar, extents_folder, stray, settings,
               settings, settings, aside, journal, journal, journal, entry, entry, entry, container, odd_names, modes,
               sizes, deep, inner_store]


def attack(template, number):
    store = os.path.join(place, "store")
    copy(template, store)
    Hostile(store, number)
    before, canary = tree(store), outside()
    for words in (["status", store], ["status", "--json", store], ["check", store]):
        run([purgefs] + words, number)
        after = tree(store)
        if after != before:
            changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
            finding(number, f"{words[0]} has changed {changed[:4]}")
            before = after
    if mount_every and number % mount_every == 0:
        mounted(store, number)
    run([purgefs, "check", "--repair", store], number)
    run([purgefs, "check", store], number)
    if mount_every and number % mount_every == 1:
        mounted(store, number)
    if outside() != canary:
        finding(number, f"what is outside has changed")
    subprocess.run(["chmod", "-R", "u+rwX", store], capture_output=True)
    subprocess.run(["rm", "-rf", "--one-file-system", store], check=True)


def mounted(store, number):
    mount = Mount(store, number)
    if mount.works:
        totals[1] += 1
        try:
            ended = subprocess.run(
                [sys.executable, "-c", OPERATIONS, mount.point], capture_output=True, timeout=DEADLINE)
            if ended.returncode not in (0, 1):
                finding(number, f"the operations ended with {ended.returncode}: {ended.stderr[-300:]!r}")
        except subprocess.TimeoutExpired:
            finding(number, "an operation hangs")
            mount.daemon.kill()
    mount.end()


totals = [0, 0]
os.makedirs(os.path.join(place, "outside"), exist_ok=True)
for name in ("canary", "canary.new"):
    with open(os.path.join(place, "outside", name), "w") as file:
        file.write("untouched")
template = make_template()
for number in [int(sys.argv[6])] if len(sys.argv) > 6 else range(count):
    attack(template, number)
    totals[0] += 1
print(f"{totals[0]} stores, {totals[1]} mounts, {findings} findings")
sys.exit(1 if findings else 0)
