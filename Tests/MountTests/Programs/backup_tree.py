"""Fills a container with everything that a backup must keep or leave out.

    backup_tree.py CONTAINER FILES
"""
import os
import random
import sys

root, count = sys.argv[1].encode(), int(sys.argv[2])
random.seed(count)
NAMES = [b"plain", b"with blank", b"new\nline", b"\xff\xfe", "ümläut".encode(), "u\u0308".encode(), b"-rf", b"*?[", b"back\\slash",
         b'quo"te', b"%41", b"x" * 240, b".hidden", b"a=b", b"\x01\x7f"]
KEYS = [b"user.note", b"com.apple.metadata:kMDItemWhereFroms", b"plain name %", b"user.\xff\xfe", b"user.com.apple.x"]


def path(*names):
    return b"/".join((root,) + names)


def age(place):
    """Sets times with nanoseconds, some before 1970."""
    seconds = random.choice([random.randrange(10 ** 9, 1700000000), -random.randrange(1, 10 ** 8)])
    os.utime(place, ns=(seconds * 10 ** 9 + 7, seconds * 10 ** 9 + random.randrange(10 ** 9)), follow_symlinks=False)


def fill(place):
    kind = random.randrange(10)
    with open(place, "wb") as file:
        if kind == 0:
            return
        if kind < 3:
            for _ in range(random.randrange(1, 9)):
                file.seek(random.randrange(0, 1 << 22))
                file.write(random.randbytes(random.randrange(1, 9000)))
            if kind == 2:
                file.truncate((1 << 22) + random.randrange(1 << 20))
        else:
            file.write(random.randbytes(random.randrange(1, 30000)))


folders = [b"Documents", b"Library/Application Support", b"Library/Preferences"]
for depth in range(40):
    place = random.choice(folders) + b"/" + random.choice(NAMES) + b"%d" % depth
    os.mkdir(path(place))
    folders.append(place)
for folder in (b"Documents/empty", b"Documents/left out", b"Documents/left out/inner", b"Library/Caches/deep", b"tmp/deep"):
    os.mkdir(path(folder))

files = []
for number in range(count):
    place = path(random.choice(folders), random.choice(NAMES)[:230] + b"%d" % number)
    kind = random.randrange(20)
    if kind == 0:
        os.symlink(random.choice([b"../x", b"/etc/passwd", b"\xff", b"plain"]), place)
    elif kind == 1 and files:
        os.link(random.choice(files), place)
    else:
        fill(place)
        files.append(place)
        os.chmod(place, random.choice([0o644, 0o600, 0o400, 0o755, 0o000, 0o4755, 0o666]))
        for key in random.sample(KEYS, random.randrange(0, 3)):
            os.chmod(place, 0o600)
            os.setxattr(place, key, random.randbytes(random.choice([0, 1, 100, 1500])))
    age(place)

if count > 1000:
    with open(path(b"Documents/huge"), "wb") as file:
        file.seek(5 << 30)
        file.write(b"end")
with open(path(b"Documents/hole"), "wb") as file:
    file.truncate(1 << 30)
os.setxattr(path(b"Documents/hole"), b"user.purgefs.isPurgeable", b"high")
os.setxattr(path(folders[5]), b"user.purgefs.fileProtection", b"none")
os.setxattr(path(folders[6]), b"user.folder", b"value")

for place in (b"Documents/left out/a", b"Documents/left out/inner/b", b"Library/Caches/c", b"Library/Caches/deep/d", b"tmp/e", b"tmp/deep/f",
              b"Documents/single", b"Documents/old flag"):
    with open(path(place), "wb") as file:
        file.write(place)
os.setxattr(path(b"Documents/left out"), b"com.apple.metadata:com_apple_backup_excludeItem", b"x")
os.setxattr(path(b"Documents/single"), b"user.purgefs.isExcludedFromBackup", b"1")
os.setxattr(path(b"Documents/old flag"), b"com.apple.MobileBackup", b"\1")
# One name is in a place that is not backed up, the other in one that is.
os.link(path(b"Library/Caches/c"), path(b"Documents/also in Caches"))
os.mkfifo(path(b"Documents/fifo"))
for folder in folders:
    os.chmod(path(folder), random.choice([0o755, 0o700, 0o2755, 0o1777]))
    age(path(folder))
age(path())
