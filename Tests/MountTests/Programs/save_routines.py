"""Ways in which an app saves a number, right ones and wrong ones, for `purgefs sweep`.

    save_routines.py NAME          adds one to the number
    save_routines.py check         fails unless the old or the new number can be read; the new one if the save has succeeded
    save_routines.py names         lists the routines: `right NAME` and `wrong NAME`
"""
import ctypes
import fcntl
import mmap
import os
import sys

HOME = os.environ["PURGEFS_MOUNT"] if "PURGEFS_MOUNT" in os.environ else ""
DOCUMENTS = HOME + "/Documents"
NUMBER = DOCUMENTS + "/number"
LOCK = DOCUMENTS + "/lock"
CACHE = HOME + "/Library/Caches/numbers"
#: Says that CACHE has been made.
READY = DOCUMENTS + "/ready"
#: Long enough that half of it is another number.
OLD, NEW = b"4100000041", b"4200000042"


def read(path):
    file = os.open(path, os.O_RDONLY)
    try:
        content = b""
        while True:
            piece = os.read(file, 4096)
            if not piece:
                return content
            content += piece
    finally:
        os.close(file)


def write(path, content, flags=os.O_CREAT | os.O_TRUNC, sync=os.fsync):
    """Writes all of the content, or raises."""
    file = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        while content:
            content = content[os.write(file, content):]
        sync(file)
    finally:
        os.close(file)


def no_sync(file):
    pass


def sync_folder(path):
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


# Right.

def right_rename():
    write(NUMBER + ".new", NEW)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_rename_checked():
    write(NUMBER + ".new", NEW)
    if read(NUMBER + ".new") != NEW:
        raise OSError("not written")
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_remove_first_attempt():
    try:
        os.unlink(NUMBER + ".new")
    except FileNotFoundError:
        pass
    write(NUMBER + ".new", NEW, os.O_CREAT | os.O_EXCL)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_link():
    write(NUMBER + ".new", NEW)
    os.link(NUMBER, NUMBER + ".old")
    os.rename(NUMBER + ".new", NUMBER)
    os.unlink(NUMBER + ".old")
    sync_folder(DOCUMENTS)


def right_backup():
    """The check accepts the backup if the number is damaged."""
    write(NUMBER + ".backup", read(NUMBER))
    write(NUMBER, NEW)
    os.unlink(NUMBER + ".backup")
    sync_folder(DOCUMENTS)


def right_folder():
    """Each generation has a folder; a link names the present one."""
    os.mkdir(DOCUMENTS + "/2")
    write(DOCUMENTS + "/2/number", NEW)
    os.rename(DOCUMENTS + "/2/number", NUMBER)
    sync_folder(DOCUMENTS)


def right_append():
    """A record counts only with its end."""
    write(NUMBER, b"\n" + NEW + b"\n", os.O_APPEND)


def right_cache():
    """The cache may go at any time, and its folder is made for each write."""
    try:
        os.makedirs(CACHE, exist_ok=True)
        write(CACHE + "/number", NEW)
    except OSError:
        pass
    right_rename()


def right_temporary():
    """A file in tmp may be purged once it is closed; then it is written again."""
    for _ in range(3):
        write(HOME + "/tmp/number", NEW)
        try:
            os.rename(HOME + "/tmp/number", NUMBER)
            sync_folder(DOCUMENTS)
            return
        except FileNotFoundError:
            pass
    raise OSError("tmp/number keeps vanishing")


def right_missing():
    """Only a file that is missing, and not one that cannot be read, is begun anew."""
    try:
        read(NUMBER)
    except FileNotFoundError:
        write(NUMBER, OLD, os.O_CREAT | os.O_EXCL)
    right_rename()


def right_fdatasync():
    write(NUMBER + ".new", NEW, sync=os.fdatasync)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_synchronous():
    """O_SYNC instead of fsync."""
    write(NUMBER + ".new", NEW, os.O_CREAT | os.O_TRUNC | os.O_SYNC, sync=no_sync)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_synchronous_data():
    write(NUMBER + ".new", NEW, os.O_CREAT | os.O_TRUNC | os.O_DSYNC, sync=no_sync)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_mapping():
    """A mapping needs its space before, because a store cannot fail with an error."""
    file = os.open(NUMBER + ".new", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.posix_fallocate(file, 0, len(NEW))
        with mmap.mmap(file, len(NEW)) as pages:
            pages[:] = NEW
            pages.flush()
    finally:
        os.close(file)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_nameless():
    """O_TMPFILE, whose file gets its name when it is complete."""
    file = os.open(DOCUMENTS, os.O_WRONLY | os.O_TMPFILE, 0o600)
    try:
        if os.write(file, NEW) != len(NEW):
            raise OSError("short")
        os.fsync(file)
        path = f"/proc/self/fd/{file}".encode()
        if ctypes.CDLL(None, use_errno=True).linkat(-100, path, -100, (NUMBER + ".new").encode(), 0x400):
            raise OSError(ctypes.get_errno(), "linkat")
    finally:
        os.close(file)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_reserved():
    """The space first, so that a full device is noticed before anything is changed."""
    file = os.open(NUMBER + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.posix_fallocate(file, 0, len(NEW))
        if os.write(file, NEW) != len(NEW):
            raise OSError("short")
        os.fsync(file)
    finally:
        os.close(file)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_exchange():
    """RENAME_EXCHANGE, so that the old number stays under the other name until the folder is synced."""
    write(NUMBER + ".new", NEW)
    if ctypes.CDLL(None, use_errno=True).renameat2(
            -100, (NUMBER + ".new").encode(), -100, NUMBER.encode(), 2):
        raise OSError(ctypes.get_errno(), "renameat2")
    sync_folder(DOCUMENTS)
    os.unlink(NUMBER + ".new")


def right_journal():
    """The new number goes to a journal first; the check completes what the journal says."""
    write(NUMBER + ".journal", NEW + b"\n")
    write(NUMBER, NEW, os.O_CREAT)
    os.unlink(NUMBER + ".journal")
    sync_folder(DOCUMENTS)


def right_error_reported():
    """An error removes the attempt, and is reported."""
    try:
        write(NUMBER + ".new", NEW)
    except OSError:
        try:
            os.unlink(NUMBER + ".new")
        except OSError:
            pass
        raise
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def right_lock():
    """flock(2) ends with the process."""
    file = os.open(DOCUMENTS + "/flock", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        right_rename_checked()
    finally:
        os.close(file)


# Wrong.

def wrong_truncate():
    write(NUMBER, NEW)


def wrong_error_ignored():
    try:
        write(NUMBER + ".new", NEW)
    except OSError:
        pass
    os.rename(NUMBER + ".new", NUMBER)


def wrong_short_write():
    file = os.open(NUMBER + ".new", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(file, NEW)
    os.close(file)
    os.rename(NUMBER + ".new", NUMBER)


def wrong_short_read():
    file = os.open(NUMBER, os.O_RDONLY)
    number = os.read(file, os.fstat(file).st_size)
    os.close(file)
    write(NUMBER + ".new", number.replace(OLD, NEW))
    os.rename(NUMBER + ".new", NUMBER)


def wrong_rename_first():
    file = os.open(NUMBER + ".new", os.O_WRONLY | os.O_CREAT, 0o600)
    os.rename(NUMBER + ".new", NUMBER)
    os.write(file, NEW)
    os.close(file)


def wrong_cache_folder_made_once():
    """The folder is made at the first start. The next one, in the check, relies on it."""
    os.makedirs(CACHE)
    write(READY, b"")
    write(CACHE + "/number", NEW)
    right_rename()


def wrong_temporary():
    write(HOME + "/tmp/number", NEW)
    os.unlink(NUMBER)
    os.rename(HOME + "/tmp/number", NUMBER)


def wrong_unreadable_is_missing():
    try:
        number = read(NUMBER)
    except OSError:
        number = b"0"
    write(NUMBER + ".new", number.replace(OLD, NEW))
    os.rename(NUMBER + ".new", NUMBER)


def wrong_lock_left():
    """The lock is a file, which an error leaves behind, and the app waits for it for ever."""
    write(LOCK, b"", os.O_CREAT | os.O_EXCL)
    write(NUMBER + ".new", NEW)
    os.rename(NUMBER + ".new", NUMBER)
    os.unlink(LOCK)
    sync_folder(DOCUMENTS)


def wrong_backup_dropped():
    """The backup is removed whether or not the number could be written."""
    write(NUMBER + ".backup", read(NUMBER))
    try:
        write(NUMBER, NEW)
    except OSError:
        pass
    os.unlink(NUMBER + ".backup")


def wrong_not_synced():
    write(NUMBER + ".new", NEW, sync=no_sync)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def wrong_folder_not_synced():
    """It says that the number is saved although a loss of power may bring the old one back."""
    write(NUMBER + ".new", NEW)
    os.rename(NUMBER + ".new", NUMBER)


def wrong_synced_too_early():
    file = os.open(NUMBER + ".new", os.O_WRONLY | os.O_CREAT, 0o600)
    if os.write(file, NEW[:5]) != 5:
        raise OSError("short")
    os.fsync(file)
    if os.write(file, NEW[5:]) != 5:
        raise OSError("short")
    os.close(file)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def wrong_other_file_synced():
    write(NUMBER + ".new", NEW, sync=no_sync)
    file = os.open(NUMBER, os.O_RDONLY)
    os.fsync(file)
    os.close(file)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def wrong_mapping_not_synced():
    file = os.open(NUMBER + ".new", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.posix_fallocate(file, 0, len(NEW))
    with mmap.mmap(file, len(NEW)) as pages:
        pages[:] = NEW
    os.close(file)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def wrong_full_ignored():
    """Only a full device is taken for success."""
    try:
        write(NUMBER + ".new", NEW)
    except OSError as error:
        if error.errno != 28:
            raise
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def wrong_sync_error_ignored():
    """It says that the number is saved although the sync has failed."""
    file = os.open(NUMBER, os.O_WRONLY)
    if os.pwrite(file, NEW, 0) != len(NEW):
        raise OSError("short")
    try:
        os.fsync(file)
    except OSError:
        pass
    os.close(file)


def wrong_renamed_away():
    """Between the two renames there is no number."""
    write(NUMBER + ".new", NEW)
    os.rename(NUMBER, NUMBER + ".old")
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def wrong_sync_retried():
    """After a sync that has failed, the next one says nothing about the data from before."""
    def sync(file):
        for _ in range(3):
            try:
                return os.fsync(file)
            except OSError:
                pass
        raise OSError("not synced")
    write(NUMBER + ".new", NEW, sync=sync)
    os.rename(NUMBER + ".new", NUMBER)
    sync_folder(DOCUMENTS)


def wrong_only_in_caches():
    """The only copy is in Library/Caches for a moment."""
    os.rename(NUMBER, HOME + "/Library/Caches/number")
    write(HOME + "/Library/Caches/number", NEW)
    os.rename(HOME + "/Library/Caches/number", NUMBER)
    sync_folder(DOCUMENTS)


def number():
    """The number that the app would read at its next start."""
    if os.path.exists(NUMBER + ".backup"):
        backup = read(NUMBER + ".backup")
        if backup == OLD:
            return backup
    if os.path.exists(NUMBER + ".journal"):
        journal = read(NUMBER + ".journal")
        if journal == NEW + b"\n":
            return NEW
    content = read(NUMBER)
    records = [line for line in content.split(b"\n")[:-1] if len(line) == len(OLD)] if b"\n" in content else [content]
    return records[-1] if records else content[: len(OLD)]


if __name__ == "__main__":
    routines = {name: body for name, body in globals().items() if name.startswith(("right_", "wrong_"))}
    if sys.argv[1] == "names":
        print("\n".join(name.replace("_", " ", 1) for name in routines))
    elif sys.argv[1] == "check":
        if os.path.exists(LOCK):
            sys.exit("locked for ever")
        if os.path.exists(READY):
            write(CACHE + "/number", NEW)
        found = number()
        isSaved = os.environ.get("PURGEFS_COMMAND_STATUS") == "0"
        if found not in (OLD, NEW):
            sys.exit(f"{found!r} is neither number")
        if isSaved and found == OLD:
            sys.exit("the number was saved, and is the old one")
    else:
        routines[sys.argv[1]]()
