"""Makes calls of every kind in DIRECTORY while its file system fails, and removes everything once it has recovered.

faulty_calls.py DIRECTORY ROUND       prints the errno of each call that failed
faulty_calls.py DIRECTORY --remove
"""
import errno
import mmap
import os
import shutil
import sys


def calls(file):
    yield lambda: os.pwrite(file, b"x" * 10_000, 0)
    yield lambda: os.pwrite(file, b"x" * 5000, 10_000)
    yield lambda: os.pwrite(file, b"x" * 5000, 100_000)
    yield lambda: os.posix_fallocate(file, 50_000, 20_000)
    yield lambda: os.ftruncate(file, 90_000)
    yield lambda: os.ftruncate(file, 3000)
    yield lambda: os.posix_fallocate(file, 0, 40_000)
    yield lambda: os.fsync(file)
    yield lambda: os.pread(file, 100, 0)
    yield lambda: os.mkdir("d")
    yield lambda: os.symlink("t", "l")
    yield lambda: os.link("f", "g")
    yield lambda: os.rename("g", "h")
    yield lambda: os.rename("h", "f2")
    yield lambda: os.setxattr("f", "user.x", b"1")
    yield lambda: os.setxattr("f", "user.purgefs.isPurgeable", b"high")
    yield lambda: os.removexattr("f", "user.x")
    yield lambda: os.chmod("f", 0o600)
    yield lambda: os.utime("f", (5, 6))
    yield lambda: os.listdir(".")
    yield lambda: os.close(os.open("f", os.O_RDWR | os.O_TRUNC))
    yield lambda: os.close(os.open("new", os.O_RDWR | os.O_CREAT))
    yield lambda: os.copy_file_range(file, file, 1000, 0, 50_000)
    yield lambda: mapped(file)
    yield lambda: os.unlink("new")
    yield lambda: os.rmdir("d")
    yield lambda: os.statvfs(".")


def mapped(file):
    os.ftruncate(file, 8192)
    with mmap.mmap(file, 8192) as memory:
        memory[5000] = 7
        memory.flush()


def main():
    os.chdir(sys.argv[1])
    if sys.argv[2] == "--remove":
        for name in os.listdir("."):
            shutil.rmtree(name)
        return
    os.mkdir(sys.argv[2])
    os.chdir(sys.argv[2])
    file = os.open("f", os.O_RDWR | os.O_CREAT)
    print("ready", flush=True)
    sys.stdin.readline()
    for call in calls(file):
        try:
            call()
        except OSError as error:
            print(errno.errorcode[error.errno], flush=True)
    try:
        os.close(file)
    except OSError as error:
        print(errno.errorcode[error.errno])
    print("done", flush=True)


main()
