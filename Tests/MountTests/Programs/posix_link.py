"""Hard links, symbolic links, names of any bytes, deep paths, link counts."""
import errno
import os
import shutil

from posix_check import call, check, content, describe, got, names, put, readable, value


@check
def link_counts():
    put("f", b"content")
    result = []
    os.mkdir("d")
    for number in range(20):
        os.link("f", f"d/{number}")
        result.append(os.stat("f").st_nlink)
    put("d/3", b"written through another name")
    result.append(content("d/7"))
    for number in range(20):
        os.unlink(f"d/{number}")
        result.append(os.stat("f").st_nlink)
    return result


@check
def link_to_every_kind():
    put("f")
    os.symlink("f", "l")
    os.symlink("nowhere", "dangling")
    os.mkfifo("p")
    os.mkdir("d")
    result = [got(os.link, name, name + "2", follow_symlinks=False) for name in ("f", "l", "dangling", "p", "d")]
    result += [got(lambda: call("linkat", -100, name, -100, name + b"3", 0x400)) for name in (b"l", b"dangling", b"p")]
    return result + [{name: describe(name) for name in names()}]


@check
def link_counts_of_directories():
    result = []
    os.mkdir("d")
    for number in range(10):
        os.mkdir(f"d/{number}")
        result.append([os.stat("d").st_nlink, os.stat(f"d/{number}").st_nlink])
    put("d/file")
    os.symlink("x", "d/link")
    result.append(os.stat("d").st_nlink)
    for number in range(0, 10, 2):
        os.rmdir(f"d/{number}")
        result.append(os.stat("d").st_nlink)
    return result + [os.stat("d/.").st_ino == os.stat("d/1/..").st_ino]


@check
def link_survives_the_first_name():
    put("a", b"content")
    os.link("a", "b")
    inode = os.stat("a").st_ino
    os.unlink("a")
    os.rename("b", "c")
    os.link("c", "a")
    return [content("a"), os.stat("c").st_ino == inode, os.stat("a").st_nlink, got(os.stat, "b")]


@check
def link_by_descriptor():
    put("f", b"content")
    reader, path_only = os.open("f", os.O_RDONLY), os.open("f", os.O_PATH)
    result = [got(lambda: call("linkat", descriptor, b"", -100, name, 0x1000))
              for descriptor, name in ((reader, b"a"), (path_only, b"b"))]
    result += [got(lambda: call("linkat", -100, f"/proc/self/fd/{descriptor}".encode(), -100, name, 0x400))
               for descriptor, name in ((reader, b"c"), (path_only, b"d"))]
    os.unlink("f")
    return result + [names(), os.fstat(reader).st_nlink]


@check
def symlink_targets():
    result = []
    for target in (b"x", b"/", b"a" * 255, b"a/" * 100, b"t" * 4095, b"t" * 4096, b"\xff\xfe\n", b" ", b"./" * 500 + b"f"):
        outcome = got(os.symlink, target, b"l")
        result.append(outcome)
        if outcome == "ok":
            result += [os.readlink(b"l") == target, os.lstat(b"l").st_size, oct(os.lstat(b"l").st_mode)]
            os.unlink("l")
    return result


@check
def symlink_readlink_with_short_buffers():
    import ctypes
    os.symlink("0123456789", "l")
    result = []
    for size in (0, 1, 5, 10, 11, 100):
        buffer = ctypes.create_string_buffer(200)
        result.append([value(call, "readlink", b"l", buffer, size), buffer.value])
    path_only = os.open("l", os.O_PATH | os.O_NOFOLLOW)
    buffer = ctypes.create_string_buffer(200)
    return readable(result) + [value(call, "readlinkat", path_only, b"", buffer, 100), readable(buffer.value)]


@check
def symlink_is_followed_or_not():
    put("f", b"content", 0o640)
    os.symlink("f", "l")
    os.symlink("d", "ld")
    os.mkdir("d")
    result = [content("l"), got(os.rmdir, "ld"), got(os.mkdir, "ld"), got(os.unlink, "ld/"), got(os.rmdir, "ld/")]
    os.truncate("l", 3)
    os.unlink("l")
    return result + [content("f"), names()]


NAMES = [
    b"\xff\xfe\x80", b"\xc3\xa9", b"e\xcc\x81", b"\xed\xa0\x80", b"new\nline", b"tab\t", b" ", b"-rf", b"--", b"~", b"*",
    b"a\\b", b"'\"", b"\x01\x7f", b"...", b". ", b".hidden", b"con", b"\xef\xbb\xbf", b"n" * 255, b"\xe2\x82\xac" * 85,
    b"\xff" * 255, b"Case", b"case", b"%s%n", b"a:b", b"$HOME", b"\xf0\x9f\x98\x80", b".purgefs", b"#sql",
]


@check
def name_of_any_bytes():
    """Each name can be created, found, listed, renamed and linked, and is distinct from all others."""
    made = []
    for number, name in enumerate(NAMES):
        made.append(got(put, name, b"%d" % number))
    result = [made, readable(sorted(os.listdir(b".")))]
    for number, name in enumerate(NAMES):
        result.append([content(name) == b"%d" % number, got(os.rename, name, b"moved"), got(os.link, b"moved", name),
                       got(os.unlink, b"moved"), got(os.mkdir, name + b"/x")])
    for name in NAMES:
        os.unlink(name)
        os.mkdir(name)
        os.rmdir(name)
        os.symlink(name, name)
    return result + [[os.readlink(name) == name for name in NAMES]]


@check
def name_of_each_single_byte():
    """All bytes but the slash and zero can be names. The dot exists already."""
    each = [bytes([number]) for number in range(1, 256) if number != 0x2F]
    made = [got(put, name, name) for name in each]
    found = sorted(os.listdir(b"."))
    result = [made.count("ok"), made[0x2E - 1], found == sorted(set(each) - {b"."}), all(content(name) == name for name in found)]
    for name in found:
        os.rename(name, name + b"\xff")
    return result + [sorted(os.listdir(b".")) == sorted(name + b"\xff" for name in found)]


@check
def name_of_a_directory_of_any_bytes():
    for name in NAMES:
        os.makedirs(name + b"/" + name)
        put(name + b"/" + name + b"/f", name)
    os.rename(NAMES[0], b"moved")
    return [readable(sorted(os.listdir(b"moved"))), [content(n + b"/" + n + b"/f") == n for n in NAMES[1:]],
            content(b"moved/" + NAMES[0] + b"/f")]


def descend(part, count):
    for _ in range(count):
        os.mkdir(part)
        os.chdir(part)


@check
def name_very_deep_paths():
    """A directory 60 KB deep can be created, read and removed, although no path can name it."""
    top = os.open(".", os.O_RDONLY)
    descend("d" * 255, 240)
    put("f", b"deep")
    os.setxattr("f", "user.a", b"1")
    os.rename("f", "g")
    result = [content("g"), got(os.getcwd), os.stat("..").st_nlink, names()]
    os.unlink("g")
    for _ in range(240):
        os.chdir("..")
        os.rmdir("d" * 255)
    return result + [os.listdir(top), os.stat(".").st_ino == os.fstat(top).st_ino]


@check
def name_path_of_exactly_the_limit():
    os.mkdir("a" * 200)
    put("a" * 200 + "/f")
    result = []
    for length in (4090, 4094, 4095, 4096, 5000):
        tail = "a" * 200 + "/f"
        path = "./" * ((length - len(tail)) // 2) + ("/" if (length - len(tail)) % 2 else "")
        path = ("." + path if path.startswith("/") else path) + tail
        result.append([len(path), got(os.stat, path), got(os.open, path, os.O_RDONLY)])
    return result


@check
def link_many_of_one_file():
    """A file can get a thousand links, or as many on a mount as in a plain directory."""
    put("f")
    made = 0
    try:
        for number in range(1000):
            os.link("f", f"h{number}")
            made += 1
    except OSError as error:
        return [made, errno.errorcode[error.errno], os.stat("f").st_nlink]
    return made
