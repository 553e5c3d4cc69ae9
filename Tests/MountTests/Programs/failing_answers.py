"""failing_answers.py MOUNT ROUNDS: makes calls of all kinds while the daemon cannot send some of its answers. Each call must
end, and fail only with EIO. Prints the number of failed calls."""
import errno
import mmap
import os
import sys

mount, rounds = sys.argv[1], int(sys.argv[2])
aligned = mmap.mmap(-1, 294912)
failed = 0


def attempt(call, *arguments, **options):
    """Returns the result, or None."""
    global failed
    try:
        return call(*arguments, **options)
    except OSError as error:
        # An earlier call may have failed before or after its effect.
        if error.errno not in (errno.EIO, errno.ENOENT, errno.EEXIST, errno.ENODATA, errno.ENOTEMPTY):
            raise
        failed += error.errno == errno.EIO


for number in range(rounds):
    folder = f"{mount}/Documents/{number}"
    attempt(os.mkdir, folder)
    for file in (f"{folder}/{name}" for name in range(5)):
        fd = attempt(os.open, file, os.O_RDWR | os.O_CREAT)
        if fd is None:
            continue
        attempt(os.pwrite, fd, b"x" * 300000, 0)
        # O_DIRECT sends the request to the daemon. Through the page cache, the kernel would repeat a failed read.
        direct = attempt(os.open, file, os.O_RDONLY | os.O_DIRECT)
        if direct is not None:
            for length in (294912, 4096):
                attempt(os.preadv, direct, [memoryview(aligned)[:length]], 0)
            attempt(os.close, direct)
        attempt(os.fsync, fd)
        attempt(os.ftruncate, fd, 100)
        attempt(os.fstat, fd)
        attempt(os.close, fd)
        attempt(os.setxattr, file, "user.a", b"b")
        attempt(os.getxattr, file, "user.a")
        attempt(os.chmod, file, 0o600)
    with_names = attempt(os.scandir, folder)
    if with_names:
        for entry in attempt(list, with_names) or []:
            attempt(entry.stat)
    attempt(os.symlink, "target", f"{folder}/link")
    attempt(os.readlink, f"{folder}/link")
    attempt(os.rename, f"{folder}/0", f"{folder}/renamed")
    attempt(os.link, f"{folder}/1", f"{folder}/second")
    attempt(os.statvfs, folder)
    for name in attempt(os.listdir, folder) or []:
        attempt(os.unlink, f"{folder}/{name}")
    attempt(os.rmdir, folder)
print(failed)
