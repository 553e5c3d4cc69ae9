"""100,000 files, served by a daemon with at most 256 descriptors."""
import errno
import hashlib
import os
import resource

from places import drop_caches, scaled
from processes import Failed

DESCRIPTORS = 256
EACH = 100  # files in each folder
DEPTH = 120


def run_suite(place):
    count = scaled(100_000, 1000)
    yield "made", make(place.work, count)
    yield "listed", listed(place.work)
    place.remount()
    yield "remounted", listed(place.work)
    yield "changed", change(place.work)
    yield "deep", deep(place.work)
    yield "many open", many_open(place)
    place.remount()
    yield "as changed", listed(place.work)
    yield "removed", removed(place.work)
    if place.daemon:
        yield "descriptors", f"ok: {place.open_descriptors()} are open at the end"


def folders(work):
    return sorted(os.path.join(work, name) for name in os.listdir(work) if name.startswith("d"))


def make(work, count):
    for number in range(count):
        folder = os.path.join(work, f"d{number // EACH:05}")
        if number % EACH == 0:
            os.mkdir(folder)
        with open(f"{folder}/f{number % EACH:03}", "w") as file:
            file.write(f"{number}\n")
    return f"{count} files"


def listed(work):
    """Returns the number of files, and a digest of all listings, attributes and every fiftieth content."""
    seen = hashlib.sha256()
    count = 0
    for folder, inside, names in os.walk(work):
        inside.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            count += 1
            seen.update(f"{os.path.relpath(path, work)} {status.st_mode} {status.st_size} {status.st_nlink}\n".encode())
            if count % 50 == 0:
                with open(path, "rb") as file:
                    seen.update(file.read())
    return f"{count} files, {seen.hexdigest()[:16]}"


def change(work):
    """Changes one folder after the other, so that no directory stays in use."""
    places = folders(work)
    for at, folder in enumerate(places):
        other = places[(at * 7 + 3) % len(places)]
        os.rename(f"{folder}/f000", f"{other}/from-{at}")
        os.link(f"{folder}/f001", f"{other}/link-{at}")
        os.unlink(f"{folder}/f002")
        os.symlink(f"{other}/f003", f"{folder}/soft")
        os.setxattr(f"{folder}/f004", "user.at", str(at).encode())
        os.chmod(f"{other}/f005", 0o600)
        os.truncate(f"{folder}/f006", 5000)
        os.mkdir(f"{folder}/inside")
    drop_caches()
    for at, folder in enumerate(places):
        if os.getxattr(f"{folder}/f004", "user.at") != str(at).encode():
            raise Failed(f"{folder}/f004 has another attribute")
    for at in range(0, len(places) - 1, 2):
        os.rename(places[at], os.path.join(places[at + 1], "inside", "moved"))
    return f"{len(places)} folders"


def deep(work):
    """Creates nested folders, and looks the innermost up from the top each time."""
    path = os.path.join(work, "deep")
    for level in range(DEPTH):
        path = os.path.join(path, f"level-{level}")
    os.makedirs(path)
    for number in range(20):
        drop_caches()
        with open(os.path.join(path, f"f{number}"), "w") as file:
            file.write("x" * number)
    top = os.path.join(work, "deep")
    os.rename(os.path.join(top, "level-0"), os.path.join(top, "first"))
    bottom = os.path.join(path.replace("/level-0/", "/first/"), "f19")
    return f"{os.stat(bottom).st_size} bytes at the bottom"


def many_open(place):
    """Opens files until the daemon has no descriptor left, while calls by name must still work.

    In a plain directory, no open is refused.
    """
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, limits[1]), limits[1]))
    held = []
    try:
        paths = [f"{folder}/f{number:03}" for folder in folders(place.work)[:20] for number in range(10, 90)]
        drop_caches()
        try:
            for path in paths[:600]:
                held.append(open(path, "rb"))
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
        if len(held) < 50:
            raise Failed(f"only {len(held)} files could be opened")
        place.say("", f"{len(held)} files were open at once")
        drop_caches()
        answer = use_names(place.work)
        return f"{answer}, all readable: {all(file.read(1).isdigit() for file in held)}"
    finally:
        for file in held:
            file.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def use_names(work):
    """Makes calls that need no descriptor of the app, which must still work."""
    done = 0
    for folder in folders_unlisted(work):
        os.mkdir(f"{folder}/new")
        os.rename(f"{folder}/new", f"{folder}/newer")
        os.stat(f"{folder}/f020")
        os.chmod(f"{folder}/f021", 0o644)
        os.setxattr(f"{folder}/f022", "user.x", b"y")
        os.getxattr(f"{folder}/f022", "user.x")
        os.link(f"{folder}/f023", f"{folder}/hard")
        os.unlink(f"{folder}/hard")
        os.rmdir(f"{folder}/newer")
        done += 9
    return f"{done} calls by name"


def folders_unlisted(work):
    """Returns some of the folders without opening a directory."""
    return [path for path in (os.path.join(work, f"d{number:05}") for number in range(1, 400, 2))
            if os.path.exists(path)]


def removed(work):
    count = 0
    for folder, inside, names in os.walk(work, topdown=False):
        for name in names:
            os.unlink(os.path.join(folder, name))
            count += 1
        for name in inside:
            path = os.path.join(folder, name)
            os.unlink(path) if os.path.islink(path) else os.rmdir(path)
            count += 1
    return f"{count} names removed, {len(os.listdir(work))} left"
