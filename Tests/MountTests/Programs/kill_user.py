"""kill_user.py FOLDER MANNER: uses the entries of FOLDER until the file system fails, and prints the error. It ignores errors
that arise because another process has created or removed an entry."""
import errno
import os
import random
import sys

folder, manner = sys.argv[1], sys.argv[2]
random.seed(manner)
count = 0


def ls():
    for name in os.listdir(folder)[:200]:
        os.stat(f"{folder}/{name}")


def read():
    with open(f"{folder}/f{random.randrange(1000)}", "rb", buffering=0) as file:
        file.read(10)


def unlink():
    os.unlink(f"{folder}/f{random.randrange(1000)}")


def rename():
    global count
    count += 1
    os.rename(f"{folder}/f{random.randrange(1000)}", f"{folder}/r{count}")


def create():
    os.close(os.open(f"{folder}/c{random.randrange(1000)}", os.O_WRONLY | os.O_CREAT, 0o644))


def use():
    try:
        globals()[manner]()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EEXIST):
            raise
    # The kernel answers from its cache that a name does not exist, even after the file system has failed.
    os.statvfs(folder)


while True:
    try:
        use()
    except OSError as error:
        print(errno.errorcode[error.errno])
        break
