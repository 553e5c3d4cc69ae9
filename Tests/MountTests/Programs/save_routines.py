"""Ways in which an app saves a number, right ones and wrong ones, for `purgefs sweep`.

    save_routines.py NAME          adds one to the number
    save_routines.py check NAME    fails unless the old or the new number can be read
    save_routines.py names         lists the routines: `right NAME` and `wrong NAME`
"""
import os
import sys

HOME = os.environ["PURGEFS_MOUNT"] if "PURGEFS_MOUNT" in os.environ else ""
DOCUMENTS = HOME + "/Documents"
NUMBER = DOCUMENTS + "/number"
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


def write(path, content, flags=os.O_CREAT | os.O_TRUNC):
    """Writes all of the content, or raises."""
    file = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        while content:
            content = content[os.write(file, content):]
        os.fsync(file)
    finally:
        os.close(file)


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


def right_remove_first_attempt():
    try:
        os.unlink(NUMBER + ".new")
    except FileNotFoundError:
        pass
    write(NUMBER + ".new", NEW, os.O_CREAT | os.O_EXCL)
    os.rename(NUMBER + ".new", NUMBER)


def right_link():
    write(NUMBER + ".new", NEW)
    os.link(NUMBER, NUMBER + ".old")
    os.rename(NUMBER + ".new", NUMBER)
    os.unlink(NUMBER + ".old")


def right_backup():
    """The check accepts the backup if the number is damaged."""
    write(NUMBER + ".backup", read(NUMBER))
    write(NUMBER, NEW)
    os.unlink(NUMBER + ".backup")


def right_folder():
    """Each generation has a folder; a link names the present one."""
    os.mkdir(DOCUMENTS + "/2")
    write(DOCUMENTS + "/2/number", NEW)
    os.rename(DOCUMENTS + "/2/number", NUMBER)


def right_append():
    """A record counts only with its end."""
    write(NUMBER, b"\n" + NEW + b"\n", os.O_APPEND)


def right_cache():
    """The cache may go at any time, and its folder is made for each write."""
    folder = HOME + "/Library/Caches/numbers"
    try:
        os.makedirs(folder, exist_ok=True)
        write(folder + "/number", NEW)
    except OSError:
        pass
    right_rename()


def right_temporary():
    """A file in tmp may be purged once it is closed; then it is written again."""
    for _ in range(3):
        write(HOME + "/tmp/number", NEW)
        try:
            os.rename(HOME + "/tmp/number", NUMBER)
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


def wrong_removed_first():
    write(NUMBER + ".new", NEW)
    os.unlink(NUMBER)
    os.rename(NUMBER + ".new", NUMBER)


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


def wrong_in_two_steps():
    file = os.open(NUMBER, os.O_WRONLY)
    os.write(file, NEW[:5])
    os.write(file, NEW[5:])
    os.close(file)


def wrong_backup_dropped():
    """The backup is removed whether or not the number could be written."""
    write(NUMBER + ".backup", read(NUMBER))
    try:
        write(NUMBER, NEW)
    except OSError:
        pass
    os.unlink(NUMBER + ".backup")


def number():
    """The number that the app would read at its next start."""
    if os.path.exists(NUMBER + ".backup"):
        backup = read(NUMBER + ".backup")
        if backup == OLD:
            return backup
    content = read(NUMBER)
    records = [line for line in content.split(b"\n")[:-1] if len(line) == len(OLD)] if b"\n" in content else [content]
    return records[-1] if records else content[: len(OLD)]


if __name__ == "__main__":
    routines = {name: body for name, body in globals().items() if name.startswith(("right_", "wrong_"))}
    if sys.argv[1] == "names":
        print("\n".join(name.replace("_", " ", 1) for name in routines))
    elif sys.argv[1] == "check":
        found = number()
        sys.exit(0 if found in (OLD, NEW) else f"{found!r} is neither number")
    else:
        routines[sys.argv[1]]()
