"""Compares two trees in everything that a backup keeps, and prints a line for each difference.

    backup_compare.py LEFT RIGHT

A line is `only left PATH`, `only right PATH`, or `ASPECT PATH`. Paths are as os.fsdecode returns them, escaped.
"""
import hashlib
import os
import stat
import sys

left, right = (os.fsencode(word) for word in sys.argv[1:3])


def walk(root):
    found = {b"": None}
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            found[os.path.relpath(os.path.join(folder, name), root)] = None
    return found


def holes(place, size):
    runs, offset = [], 0
    with open(place, "rb") as file:
        while offset < size:
            try:
                start = os.lseek(file.fileno(), offset, os.SEEK_DATA)
            except OSError:
                break
            offset = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            runs.append((start, offset))
    return runs


def content(place, runs):
    digest = hashlib.sha256()
    with open(place, "rb") as file:
        for start, end in runs:
            file.seek(start)
            digest.update(b"%d:" % start + file.read(end - start))
    return digest.digest()


def attributes(place):
    # The store uses this attribute internally, so it does not belong to the file.
    names = [name for name in os.listxattr(place, follow_symlinks=False) if name != "user.purgefs.extents"]
    return {name: os.getxattr(place, name, follow_symlinks=False) for name in names}


def aspects(place):
    status = os.lstat(place)
    if stat.S_ISREG(status.st_mode) and not os.access(place, os.R_OK):
        os.chmod(place, 0o600)
    yield "type", stat.S_IFMT(status.st_mode)
    yield "mode", stat.S_IMODE(status.st_mode)
    yield "owner", (status.st_uid, status.st_gid)
    yield "time", status.st_mtime_ns
    yield "attributes", attributes(place)
    if stat.S_ISLNK(status.st_mode):
        yield "target", os.readlink(place)
    if stat.S_ISREG(status.st_mode):
        runs = holes(place, status.st_size)
        yield "size", status.st_size
        yield "holes", runs
        yield "content", content(place, runs)


def show(path):
    return os.fsdecode(path).encode("unicode_escape", "surrogateescape").decode()


def main():
    mine, theirs = walk(left), walk(right)
    for path in sorted(mine.keys() - theirs.keys()):
        print("only left", show(path))
    for path in sorted(theirs.keys() - mine.keys()):
        print("only right", show(path))
    names = {left: {}, right: {}}
    for path in sorted(mine.keys() & theirs.keys()):
        a, b = (list(aspects(os.path.join(root, path) if path else root)) for root in (left, right))
        for (aspect, one), (_, other) in zip(a, b):
            if one != other:
                print(aspect, show(path))
        if len(a) != len(b):
            print("kind", show(path))
        for root in (left, right):
            status = os.lstat(os.path.join(root, path) if path else root)
            if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
                names[root].setdefault(status.st_ino, []).append(path)
    for group in sorted(names[left].values()):
        if len(group) > 1 and group not in names[right].values():
            print("links", show(group[0]))


main()
