"""Random operations on trees by four processes (after fsstress) give the same tree on both sides."""
import contextlib
import errno
import hashlib
import os
import random
import signal
import stat

from posix_check import call, check, content, together

NAMES = [f"n{number}" for number in range(12)]


class Gardener:
    """One process's random walk. Its steps and their outcomes depend only on the seed."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.outcomes = hashlib.md5()

    def path(self):
        return "/".join(self.chance.choice(NAMES) for _ in range(self.chance.choice((1, 1, 2, 2, 3))))

    def step(self):
        action = self.chance.choice(self.ACTIONS)
        one, other, size = self.path(), self.path(), self.chance.choice((0, 1, 4096, 10_000, 200_000))
        try:
            outcome = action(self, one, other, size)
        except OSError as error:
            outcome = errno.errorcode[error.errno]
        self.outcomes.update(f"{action.__name__} {one} {other} {size} {outcome}\n".encode())
        return f"{action.__name__} {one} {other} {outcome}"

    @contextlib.contextmanager
    def opened(self, path, flags):
        """Provides a descriptor, without waiting for the other end of a FIFO."""
        descriptor = os.open(path, flags | os.O_NONBLOCK, 0o640)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def make(self, one, _, size):
        with self.opened(one, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as descriptor:
            os.write(descriptor, self.chance.randbytes(size))

    def append(self, one, _, size):
        with self.opened(one, os.O_WRONLY | os.O_APPEND) as descriptor:
            os.write(descriptor, self.chance.randbytes(size))

    def overwrite(self, one, _, size):
        with self.opened(one, os.O_RDWR) as descriptor:
            os.pwrite(descriptor, self.chance.randbytes(size), size // 2)

    def cut(self, one, _, size):
        os.truncate(one, size // 3)

    def allocate(self, one, _, size):
        with self.opened(one, os.O_RDWR) as descriptor:
            call("fallocate", descriptor, self.chance.choice((0, 1, 3, 16)), size // 2, size + 1)

    def read(self, one, _, size):
        with self.opened(one, os.O_RDONLY) as descriptor:
            return hashlib.md5(os.pread(descriptor, 1 << 20, 0)).hexdigest()

    def folder(self, one, *_):
        os.mkdir(one, 0o755)

    def unfolder(self, one, *_):
        os.rmdir(one)

    def remove(self, one, *_):
        os.unlink(one)

    def move(self, one, other, _):
        os.rename(one, other)

    def exchange(self, one, other, _):
        call("renameat2", -100, one.encode(), -100, other.encode(), 2)

    def move_if_free(self, one, other, _):
        call("renameat2", -100, one.encode(), -100, other.encode(), 1)

    def link(self, one, other, _):
        os.link(one, other, follow_symlinks=False)

    def symlink(self, one, other, _):
        os.symlink(one, other)

    def attribute(self, one, _, size):
        os.setxattr(one, f"user.a{size % 3}", b"v%d" % size)

    def change(self, one, _, size):
        os.chmod(one, 0o700 + size % 64)
        os.utime(one, ns=(size, size * 1_000_003))

    def look(self, one, *_):
        return stat.filemode(os.lstat(one).st_mode)

    def list(self, one, *_):
        return sorted(os.listdir(one))

    def fifo(self, one, *_):
        os.mkfifo(one)

    ACTIONS = [make] * 5 + [folder] * 4 + [move] * 4 + [link] * 3 + [overwrite] * 3 + [
        append, cut, allocate, allocate, read, unfolder, remove, remove, exchange, move_if_free, symlink, attribute, change, look, list, fifo]


def tree(top="."):
    """Returns a line for each entry, with everything in which both sides must agree."""
    lines = []
    for folder, folders, files in os.walk(top):
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            kind = stat.S_IFMT(status.st_mode)
            line = [path, stat.filemode(status.st_mode), status.st_nlink]
            if kind == stat.S_IFREG:
                line += [status.st_size, hashlib.md5(content(path)).hexdigest()]
                line += [sorted((key, os.getxattr(path, key)) for key in os.listxattr(path))]
            elif kind == stat.S_IFLNK:
                line.append(os.readlink(path))
            lines.append(str(line))
    return sorted(lines)


def walk(seed, steps):
    os.mkdir(f"p{seed}")
    os.chdir(f"p{seed}")
    os.umask(0)
    gardener = Gardener(seed)
    for _ in range(steps):
        gardener.step()
    return [gardener.outcomes.hexdigest(), tree()]


@check
def random_trees_by_four_processes():
    return together(4, lambda number: walk(number, 1500))


@check
def random_trees_with_a_log():
    """Returns every outcome in order, so that a difference shows where it began."""
    os.mkdir("t")
    os.chdir("t")
    os.umask(0)
    gardener = Gardener(77)
    return [gardener.step() for _ in range(800)] + tree()


def together_in_one(number):
    # Another process may close the FIFO's reader.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    gardener = Gardener(1000 + number)
    for _ in range(1500):
        gardener.step()
    return True


@check
def random_trees_in_one_place_stay_sound():
    """The result is not known in advance, but link counts are right and every listed entry exists."""
    os.mkdir("t")
    os.chdir("t")
    done = together(4, together_in_one)
    links, wrong = {}, []
    for folder, folders, files in os.walk("."):
        # os.walk lists symbolic links to directories as directories.
        real = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
        if os.stat(folder).st_nlink != 2 + len(real):
            wrong.append(["links", folder])
        if set(folders + files) != set(os.listdir(folder)):
            wrong.append(["listing", folder])
        for name in set(folders + files) - set(real):
            status = os.lstat(os.path.join(folder, name))
            links.setdefault((status.st_ino, status.st_nlink), []).append(name)
    wrong += [[key[1], found] for key, found in links.items() if len(found) != key[1]]
    for folder, folders, files in os.walk(".", topdown=False):
        for name in files + folders:
            if os.path.lexists(path := os.path.join(folder, name)):
                os.unlink(path)
        if folder != ".":
            os.rmdir(folder)
    return [done, wrong, os.listdir("."), os.stat(".").st_nlink]
