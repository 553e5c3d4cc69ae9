"""Makes mixed operations on files, checks them against a model in memory, and removes all files.

    python3 mixed.py DIRECTORY SEED OPERATIONS

Prints the number of calls and a digest of all results, which is the same on every file system.
Ends with status 1 at the first wrong answer.
"""
import hashlib
import os
import random
import stat
import sys

FOLDERS = 40
FILES = 400
BLOCK = bytes(range(256)) * 16


class Mixed:
    """Files and folders below one directory, each with its expected content."""

    def __init__(self, directory, seed):
        self.random = random.Random(seed)
        self.seen = hashlib.sha256()
        self.calls = 0
        self.top = directory
        self.folders = []
        self.files = []  # paths
        self.models = {}  # path: a list of one File, shared by hard links
        self.open = []  # (descriptor, File)
        self.number = 0

    def name(self):
        self.number += 1
        return f"{self.number:x}-{'n' * self.random.randrange(1, 40)}"

    def expect(self, found, wanted, what):
        self.seen.update(f"{what} {found!r}\n".encode())
        if found != wanted:
            sys.exit(f"{what}: {found!r} and not {wanted!r}")

    def run(self, operations):
        choices = [(self.create, 16), (self.overwrite, 12), (self.read, 14), (self.look, 14), (self.rename, 8),
                   (self.link, 5), (self.unlink, 10), (self.attribute, 8), (self.list, 3), (self.hold, 4),
                   (self.let_go, 4), (self.symlink, 3), (self.truncate, 4), (self.folder, 2), (self.remove_folder, 1),
                   (self.missing, 4), (self.times, 3), (self.replace, 4)]
        kinds, weights = zip(*choices)
        self.folder()
        while self.calls < operations:
            for operation in self.random.choices(kinds, weights, k=100):
                operation()
        self.clean()
        print(self.calls, self.seen.hexdigest()[:16])

    def pick(self):
        return self.random.choice(self.files) if self.files else None

    # Each operation makes a few calls and counts them.

    def create(self):
        if len(self.files) >= FILES:
            return self.unlink()
        path = f"{self.random.choice(self.folders)}/{self.name()}"
        content = BLOCK[:self.random.randrange(1, 4096)] * self.random.randrange(1, 4)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640)
        os.write(descriptor, content)
        os.close(descriptor)
        self.calls += 3
        self.files.append(path)
        self.models[path] = File(content)

    def overwrite(self):
        path = self.pick()
        if path is None:
            return
        file, offset = self.models[path], self.random.randrange(9000)
        data = BLOCK[:self.random.randrange(1, 3000)]
        descriptor = os.open(path, os.O_WRONLY)
        os.pwrite(descriptor, data, offset)
        os.close(descriptor)
        self.calls += 3
        file.write(data, offset)

    def read(self):
        path = self.pick()
        if path is None:
            return
        descriptor = os.open(path, os.O_RDONLY)
        found = os.read(descriptor, 1 << 16)
        os.close(descriptor)
        self.calls += 3
        self.expect(hashlib.md5(found).digest(), hashlib.md5(self.models[path].content).digest(), "read")

    def look(self):
        path = self.pick()
        if path is None:
            return
        status = os.stat(path)
        self.calls += 1
        file = self.models[path]
        self.expect((status.st_size, status.st_nlink), (len(file.content), file.links), "stat")

    def rename(self):
        path = self.pick()
        if path is None:
            return
        new = f"{self.random.choice(self.folders)}/{self.name()}"
        os.rename(path, new)
        self.calls += 1
        self.files[self.files.index(path)] = new
        self.models[new] = self.models.pop(path)

    def replace(self):
        path, target = self.pick(), self.pick()
        if path is None or self.models[path] is self.models[target]:
            return
        os.rename(path, target)
        self.calls += 1
        self.files.remove(path)
        self.models[target].links -= 1
        self.models[target] = self.models.pop(path)

    def link(self):
        path = self.pick()
        if path is None or len(self.files) >= FILES:
            return
        new = f"{self.random.choice(self.folders)}/{self.name()}"
        os.link(path, new)
        self.calls += 1
        self.files.append(new)
        self.models[new] = self.models[path]
        self.models[new].links += 1

    def unlink(self):
        path = self.pick()
        if path is None:
            return
        os.unlink(path)
        self.calls += 1
        self.files.remove(path)
        self.models.pop(path).links -= 1

    def attribute(self):
        path = self.pick()
        if path is None:
            return
        value = BLOCK[:self.random.randrange(1, 100)]
        os.setxattr(path, "user.mixed", value)
        self.expect(os.getxattr(path, "user.mixed"), value, "getxattr")
        self.expect(os.listxattr(path), ["user.mixed"], "listxattr")
        self.calls += 3
        if self.random.random() < 0.5:
            os.removexattr(path, "user.mixed")
            self.calls += 1

    def list(self):
        folder = self.random.choice(self.folders)
        found = sorted(name for name in os.listdir(folder) if "-" in name)
        self.calls += 3
        inside = [path for path in self.files if path.rpartition("/")[0] == folder]
        self.expect(found, sorted(path.rpartition("/")[2] for path in inside), "listdir")

    def hold(self):
        """Opens a file that stays open even if its name is removed."""
        path = self.pick()
        if path is None or len(self.open) >= 20:
            return self.let_go()
        self.open.append((os.open(path, os.O_RDWR), self.models[path]))
        self.calls += 1

    def let_go(self):
        if not self.open:
            return
        descriptor, file = self.open.pop(self.random.randrange(len(self.open)))
        status = os.fstat(descriptor)
        self.expect((status.st_size, status.st_nlink), (len(file.content), file.links), "fstat")
        self.expect(os.pread(descriptor, 1 << 16, 0) == file.content, True, "pread")
        os.close(descriptor)
        self.calls += 3

    def symlink(self):
        path = f"{self.random.choice(self.folders)}/{self.name().replace('-', '_')}"
        os.symlink("../somewhere", path)
        self.expect(os.readlink(path), "../somewhere", "readlink")
        os.unlink(path)
        self.calls += 3

    def truncate(self):
        path = self.pick()
        if path is None:
            return
        size = self.random.randrange(12000)
        os.truncate(path, size)
        self.calls += 1
        self.models[path].truncate(size)

    def folder(self):
        if len(self.folders) >= FOLDERS:
            return self.remove_folder()
        parent = self.random.choice(self.folders) if self.folders and self.random.random() < 0.5 else self.top
        path = f"{parent}/{self.name().replace('-', '_')[:20]}"
        os.mkdir(path)
        self.calls += 1
        self.folders.append(path)

    def remove_folder(self):
        paths = self.files + self.folders
        empty = [one for one in self.folders if not any(path.startswith(one + "/") for path in paths)]
        if not empty or len(self.folders) < 2:
            return
        path = self.random.choice(empty)
        os.rmdir(path)
        self.calls += 1
        self.folders.remove(path)

    def missing(self):
        try:
            os.stat(f"{self.random.choice(self.folders)}/{self.name()}")
            sys.exit("a file that was never made")
        except FileNotFoundError:
            self.calls += 1

    def times(self):
        path = self.pick()
        if path is None:
            return
        os.utime(path, ns=(10**18, 10**18 + self.number))
        os.chmod(path, 0o600)
        status = os.stat(path)
        self.expect((status.st_mtime_ns, stat.S_IMODE(status.st_mode)), (10**18 + self.number, 0o600), "utime, chmod")
        self.calls += 3

    def clean(self):
        while self.open:
            self.let_go()
        for path in self.files:
            os.unlink(path)
        for path in sorted(self.folders, key=len, reverse=True):
            os.rmdir(path)
        self.calls += len(self.files) + len(self.folders)


class File:
    """The expected content of a file, and its number of names."""

    def __init__(self, content):
        self.content = content
        self.links = 1

    def write(self, data, offset):
        before = self.content[:offset].ljust(offset, b"\0")
        self.content = before + data + self.content[offset + len(data):]

    def truncate(self, size):
        self.content = self.content[:size].ljust(size, b"\0")


if __name__ == "__main__":
    Mixed(sys.argv[1], int(sys.argv[2])).run(int(sys.argv[3]))
