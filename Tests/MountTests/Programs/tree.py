"""Prints everything that an app sees of a container, a line for each name, and the order of purging."""
import hashlib
import os
import stat
import subprocess
import sys

root = os.fsencode(sys.argv[1])
first = {}


def attributes(path):
    try:
        return sorted((name, os.getxattr(path, name, follow_symlinks=False).hex())
                      for name in os.listxattr(path, follow_symlinks=False))
    except OSError as error:
        return error.errno


def content(path, status):
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(status.st_mode):
        return status.st_rdev
    with open(os.open(path, os.O_RDONLY | os.O_NOATIME), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def show(path):
    status = os.lstat(path)
    twin = first.setdefault(status.st_ino, os.path.relpath(path, root))
    # For a folder, these depend on the file system under the store.
    size = None if stat.S_ISDIR(status.st_mode) else (status.st_size, status.st_blocks, status.st_nlink)
    print(os.path.relpath(path, root), oct(status.st_mode), status.st_uid, status.st_gid, size, twin,
          status.st_mtime_ns, status.st_atime_ns if stat.S_ISREG(status.st_mode) else None, attributes(path),
          None if stat.S_ISDIR(status.st_mode) else content(path, status))


for folder, folders, files in os.walk(root):
    folders.sort()
    if folder != root:
        show(folder)
    for name in sorted(files + [name for name in folders if os.path.islink(os.path.join(folder, name))]):
        show(os.path.join(folder, name))
with open(os.path.join(root, b".purgefs/storage.plan"), "r+b", buffering=0) as plan:
    os.write(plan.fileno(), b"all")
    print(b"".join(os.pread(plan.fileno(), 1 << 20, 0).splitlines(True)).decode())
print(open(os.path.join(root, b".purgefs/storage.used")).read())
print(open(os.path.join(root, b".purgefs/device.clock")).read())
