"""Simulates power loss of the disk under a store at many moments, and checks the resulting state.

usage: power_loss.py PURGEFS RECORDED_DISK DIRECTORY FILE_SYSTEM SEED STATES ROUNDS EVERY

A loop device over a file that records writes and flushes (recorded_disk.c) carries FILE_SYSTEM with a store on it. Programs
write through a mount of the store, call fsync, and mark in the record what must hold from then on. Then the disk is rebuilt
STATES times as it may be after a power loss: everything up to the last flush, plus either all later writes up to some moment or
a random part of them. On each such disk, the files must have their content, the store its settings, and the ledger must equal
the charges. One of EVERY such stores is also mounted, written to and unmounted, and must then hold the new content. Needs root.
Prints each finding, and ends with 1 if there was any.
"""
import ctypes, hashlib, json, os, random, sqlite3, subprocess, sys, time

purgefs, disk_program, place, kind, seed, states, rounds, every = *sys.argv[1:5], *map(int, sys.argv[5:9])
place = os.path.realpath(place)
SIZE = {"ext4": 64 << 20, "xfs": 304 << 20, "btrfs": 128 << 20}[kind]
random_source = random.Random(seed)
findings = 0
at = lambda *names: os.path.join(place, *names)


def run(*words, check=True, timeout=60):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    if check and done.returncode != 0:
        raise SystemExit(f"{words} ended with {done.returncode}: {done.stdout + done.stderr!r}")
    return done


def wait_for(condition, what):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"waited in vain for {what}")
        time.sleep(0.005)


def loop_device(path):
    return run("losetup", "--find", "--show", path).stdout.decode().strip()


def mount_disk(device, point):
    return run("mount", *(["-o", "nouuid"] if kind == "xfs" else []), device, point, check=False)


def unmount(point):
    """Unmounts a disk, which a process that reads links in /proc can keep busy for a moment."""
    wait_for(lambda: run("umount", point, check=False).returncode == 0, f"the unmount of {point}")


class Workload:
    """The programs' writes, and the marks that show which of them are durable."""

    def __init__(self, point):
        self.point, self.used, self.safe = point, 0, {}
        self.marks = os.open(at("recorder", "mark"), os.O_WRONLY)

    def mark(self, **facts):
        os.write(self.marks, json.dumps(facts).encode())

    def path(self, name):
        return os.path.join(self.point, name)

    def sync_folder(self, name):
        folder = os.open(self.path(name), os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def plain(self, number):
        """Writes a new file once."""
        content = random_source.randbytes(random_source.randint(1, 60_000))
        name = f"Documents/plain{number}"
        blocks = -(-len(content) // 4096)
        self.mark(may=self.used + blocks)
        with open(self.path(name), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self.sync_folder("Documents")
        self.used += blocks
        self.mark(used=self.used, file=name, digest=hashlib.sha256(content).hexdigest())

    def holes(self, number):
        """Creates a file with blocks that are allocated and never written. Their list is in an attribute or a sidecar."""
        name, blocks = f"Library/holes{number}", random_source.choice([3, 400])
        self.mark(may=self.used + blocks)
        file = os.open(self.path(name), os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(file, 4096 * blocks * 3)
        for block in range(blocks):
            os.posix_fallocate(file, 4096 * 3 * block, 4096)
        os.fsync(file)
        self.sync_folder("Library")
        self.used += blocks
        self.mark(used=self.used)
        self.mark(may=self.used + 40)
        for block in range(0, 40):
            os.posix_fallocate(file, 4096 * (3 * blocks + 10 + 2 * block), 4096)
        os.fsync(file)
        os.close(file)
        self.used += 40
        self.mark(used=self.used)

    def settings(self, number):
        self.mark(others=4096 * number)
        # A lock on the journal delays the syncs that come with its writes. Otherwise they would hide a missing sync.
        journal = sqlite3.connect(at("disk", "store", "journal.sqlite"), isolation_level=None, timeout=30)
        journal.execute("BEGIN IMMEDIATE")
        command = os.open(self.path(".purgefs/storage.others"), os.O_WRONLY)
        os.write(command, str(4096 * number).encode())
        os.close(command)
        self.mark(settings=4096 * number)
        journal.execute("ROLLBACK")
        journal.close()


def record():
    """Runs the workload on a recorded disk."""
    for name in ("recorder", "disk", "mount"):
        os.makedirs(at(name), exist_ok=True)
    recorder = subprocess.Popen([disk_program, at("log"), str(SIZE), at("recorder")])
    wait_for(lambda: os.path.exists(at("recorder", "disk")), "the recorder")
    device = loop_device(at("recorder", "disk"))
    try:
        options = {"ext4": ["-q", "-F"], "xfs": ["-q", "-f"], "btrfs": ["-q", "-f"]}[kind]
        run("mkfs." + kind, *options, device)
        made = mount_disk(device, at("disk"))
        if made.returncode:
            raise SystemExit(f"cannot mount {kind}: {made.stderr!r}")
        try:
            work()
        finally:
            unmount(at("disk"))
    finally:
        run("losetup", "--detach", device, check=False)
        wait_for(lambda: run("losetup", device, check=False).returncode != 0, "the end of the loop device")
        unmount(at("recorder"))
        recorder.wait(30)


def work():
    daemon = subprocess.Popen(
        [purgefs, "mount", "--foreground", "--total", "1G", at("disk", "store"), at("mount")],
        stdin=subprocess.DEVNULL, stderr=open(at("daemon.log"), "w"))
    wait_for(lambda: os.path.exists(at("mount", ".purgefs", "status.json")), "the mount")
    run("sync", "-f", at("disk"))
    workload = Workload(at("mount"))
    workload.mark(used=0, may=0, others=0, settings=0)
    for number in range(1, rounds + 1):
        workload.plain(number)
        workload.settings(number)
        if number % 2:
            workload.holes(number)
    os.close(workload.marks)
    wait_for(lambda: run("fusermount3", "-u", at("mount"), check=False).returncode == 0, "the unmount")
    if daemon.wait(30) != 0:
        raise SystemExit(f"the daemon ended badly: {open(at('daemon.log')).read()}")


def entries():
    """Yields the record's entries: (kind, offset, data or length)."""
    with open(at("log"), "rb") as log:
        while head := log.read(17):
            what, offset, length = chr(head[0]), *(int.from_bytes(head[i:i + 8], "little") for i in (1, 9))
            yield what, offset, log.read(length) if what in "WM" else length


libc = ctypes.CDLL(None, use_errno=True)


def apply(image, entry):
    what, offset, data = entry
    if what == "W":
        os.pwrite(image, data, offset)
    elif what == "D":
        PUNCH_HOLE_KEEP_SIZE = 3
        libc.fallocate(image, PUNCH_HOLE_KEEP_SIZE, ctypes.c_long(offset), ctypes.c_long(data))


def rebuild():
    """Rebuilds the disk for each chosen moment, in order."""
    log = list(entries())
    first = next(index for index, entry in enumerate(log) if entry[0] == "M")
    # Moments right after a command was acknowledged, and random ones.
    commands = {index + 1 for index, (what, _, data) in enumerate(log) if what == "M" and b'"settings": ' in data}
    moments = sorted(random_source.choices(range(first + 1, len(log) + 1), k=states - len(commands)) + [*commands])
    durable, flushed = os.open(at("durable"), os.O_RDWR | os.O_CREAT | os.O_TRUNC), 0
    os.truncate(durable, SIZE)
    facts, files, index = {}, {}, 0
    others, tried = set(), 0
    for moment in moments:
        while index < moment:
            what, _, data = log[index]
            if what == "F":
                for entry in log[flushed:index]:
                    apply(durable, entry)
                flushed = index
            elif what == "M":
                mark = json.loads(data)
                if "others" in mark:
                    others.add(mark["others"])
                if "file" in mark:
                    files[mark["file"]] = mark["digest"]
                facts.update(mark)
            index += 1
        # Half of the disks lose only the writes after the moment, the others also part of the unflushed ones. A file system may
        # need some of those, but it must mount if nothing before the moment is lost.
        part = 0 if moment in commands else random_source.choice([1, 1, 0, 0.5])
        for part in dict.fromkeys([part, 1]):
            write_state(log[flushed:moment], part)
            if inspect(moment, facts, files, others, isUsed=tried % every == 0):
                break
        else:
            unmountable.append(moment)
        tried += 1
    os.close(durable)
    return tried


def write_state(rest, part):
    """Writes a disk with all durable writes, and with the fraction `part` of the remaining ones."""
    run("cp", "--sparse=always", at("durable"), at("state"))
    state = os.open(at("state"), os.O_RDWR)
    for entry in rest:
        if part == 1 or random_source.random() < part:
            apply(state, entry)
    os.close(state)


def inspect(moment, facts, files, others, isUsed):
    """Checks a disk. Returns False if its file system cannot be mounted, which says nothing about purgefs."""
    device = loop_device(at("state"))
    try:
        made = mount_disk(device, at("disk"))
        if made.returncode:
            return False
        try:
            storage = look(moment, facts, files, others)
            if storage and isUsed:
                Use(moment, files, storage).run()
            return True
        finally:
            unmount(at("disk"))
    finally:
        run("losetup", "--detach", device)


def finding(moment, text):
    global findings
    findings += 1
    print(f"{kind} seed {seed} moment {moment}: {text}", flush=True)


def look(moment, facts, files, others):
    store = at("disk", "store")
    for name, digest in files.items():
        try:
            with open(os.path.join(store, "container", name), "rb") as file:
                found = hashlib.sha256(file.read()).hexdigest()
        except OSError as error:
            found = str(error)
        if found != digest:
            finding(moment, f"{name}: {found}")
    storage = checked(moment, store)
    if not storage:
        return None
    if not facts["used"] <= storage["used"] // 4096 <= max(facts["used"], facts["may"]):
        finding(moment, f"{storage['used'] // 4096} blocks are charged, not {facts['used']} to {facts['may']}")
    if storage["others"] not in others or storage["total"] != 1 << 30:
        finding(moment, f"the settings are not those of any moment: {storage}")
    if storage["others"] < facts["settings"]:
        finding(moment, f"a command had been acknowledged: others is {storage['others']}, not {facts['settings']}")
    return storage


def checked(moment, store, when=""):
    """Checks a store for damage, and returns the storage section of its status."""
    check = run(purgefs, "check", store, check=False)
    problems = [line for line in check.stdout.decode().splitlines() if line.startswith(store + "/")]
    # A list that nothing refers to yet is harmless.
    if bad := [line for line in problems if "belongs to no file" not in line]:
        finding(moment, f"check{when}: {bad}")
    if check.stderr:
        finding(moment, f"check{when}: {check.stderr!r}")
    status = run(purgefs, "status", "--json", store, check=False)
    if status.returncode:
        return finding(moment, f"status{when}: {status.stderr!r}")
    return json.loads(status.stdout)["storage"]


class Use:
    """An app's use of the store after the power is back."""

    def __init__(self, moment, files, storage):
        self.moment, self.files, self.storage = moment, files, storage
        self.store, self.point = at("disk", "store"), at("mount")
        self.written = {}

    def run(self):
        log = at("state.log")
        with open(log, "w") as errors:
            daemon = subprocess.Popen(
                [purgefs, "mount", "--foreground", self.store, self.point], stdin=subprocess.DEVNULL, stderr=errors)
        try:
            is_mounted = lambda: os.path.exists(os.path.join(self.point, ".purgefs", "status.json"))
            wait_for(lambda: daemon.poll() is not None or is_mounted(), "the mount of a state")
            if daemon.poll() is None:
                self.work()
                used.append(self.moment)
        except OSError as error:
            finding(self.moment, f"on the mount: {error}")
        finally:
            status = self.end(daemon)
        if status:
            return finding(self.moment, f"the daemon ended with {status}: {open(log).read()}")
        self.look()

    def end(self, daemon):
        try:
            if daemon.poll() is None:
                wait_for(lambda: run("fusermount3", "-u", self.point, check=False).returncode == 0, "the unmount")
            return daemon.wait(30)
        finally:
            if daemon.poll() is None:
                daemon.kill()
                run("umount", "-l", self.point, check=False)
                daemon.wait(30)

    def number(self, name):
        with open(os.path.join(self.point, ".purgefs", name)) as file:
            return int(file.read())

    def expect(self, found, expected, what):
        if found != expected:
            finding(self.moment, f"{what}: {found}, not {expected}")

    def expect_used(self, expected, what):
        self.expect(self.number("storage.used"), expected, what)
        charged = 0
        for folder, _, names in os.walk(self.point):
            if not folder.startswith(os.path.join(self.point, ".purgefs")):
                charged += sum(os.lstat(os.path.join(folder, name)).st_blocks * 512 for name in names)
        self.expect(charged, expected, f"{what}, file by file")

    def work(self):
        charge = self.storage["used"]
        self.expect_used(charge, "used after the mount")
        for name, digest in self.files.items():
            self.expect(self.content(self.point, name), digest, name)
        charge += self.put("Documents/new", 0, random_source.randbytes(random_source.randint(1, 60_000)))
        self.expect_used(charge, "used after a new file")
        for name in self.files:
            # Writing in place charges nothing new.
            self.put(name, 0, b"again")
        os.rename(os.path.join(self.point, "Documents/new"), os.path.join(self.point, "Library/new"))
        self.written["Library/new"] = self.written.pop("Documents/new")
        self.expect_used(charge, "used after writing in place")
        self.change_holes(charge)
        with open(os.path.join(self.point, ".purgefs", "storage.others"), "w") as command:
            command.write("8192000")

    def change_holes(self, charge):
        """Writes to, truncates and removes the files with allocated blocks."""
        folder = os.path.join(self.point, "Library")
        for name in sorted(name for name in os.listdir(folder) if name.startswith("holes")):
            path = os.path.join(folder, name)
            size_on_disk = lambda: os.stat(path).st_blocks * 512
            rest = charge - size_on_disk()
            with open(path, "r+b") as file:
                file.write(b"data")
                file.flush()
                os.fsync(file.fileno())
                self.expect_used(rest + size_on_disk(), f"used after writing to {name}")
                file.truncate(5000)
            if size_on_disk() not in (4096, 8192):
                finding(self.moment, f"{name} has {size_on_disk()} bytes after a cut to 5000")
            self.expect_used(rest + size_on_disk(), f"used after cutting {name}")
            os.unlink(path)
            charge = rest
            self.expect_used(charge, f"used after removing {name}")

    def put(self, name, offset, data):
        """Writes and syncs. Returns the bytes of a new file's blocks."""
        file = os.open(os.path.join(self.point, name), os.O_RDWR | os.O_CREAT, 0o644)
        os.pwrite(file, data, offset)
        os.fsync(file)
        os.close(file)
        self.written[name] = self.content(self.point, name)
        return -(-len(data) // 4096) * 4096

    def content(self, root, name):
        with open(os.path.join(root, name), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def look(self):
        """Checks the store after an orderly unmount."""
        storage = checked(self.moment, self.store, " after a mount")
        if storage:
            self.expect(storage["others"], 8192000, "others after a mount")
        for name, digest in self.written.items():
            self.expect(self.content(os.path.join(self.store, "container"), name), digest, f"{name} after a mount")


used = []
unmountable = []
record()
tried = rebuild()
for name in ("durable", "state", "log"):
    os.unlink(at(name))
if len(used) < (tried - len(unmountable)) // every - len(unmountable):
    finding("any", f"only {len(used)} states were mounted")
print(f"{kind}: {tried} states, {len(unmountable)} not mountable, {len(used)} used on a mount, {findings} findings")
sys.exit(1 if findings or unmountable else 0)
