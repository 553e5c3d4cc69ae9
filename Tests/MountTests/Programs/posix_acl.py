"""POSIX access control lists: inheritance, the mask, umask, chmod, and which users they admit."""
import os
import struct
import subprocess

from posix_check import ALICE, BOB, CREW, STAFF, as_user, check, describe, got, mode, put, value
from posix_permission import CALLERS

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"


def acl(text):
    """Converts entries such as `u::rwx,u:65002:r,g::r,m::rwx,o::-` into the kernel's format."""
    kinds = {"u": (1, 2), "g": (4, 8), "m": (16, 16), "o": (32, 32)}
    data, order = struct.pack("<I", 2), []
    for entry in text.split(","):
        kind, who, bits = entry.split(":")
        number = sum({"r": 4, "w": 2, "x": 1, "-": 0}[letter] for letter in bits)
        order.append((kinds[kind][1 if who else 0], number, int(who) if who else 0xFFFFFFFF))
    for tag, number, who in sorted(order, key=lambda item: (item[0], item[2])):
        data += struct.pack("<HHI", tag, number, who)
    return data


def spelled(path, name=ACCESS):
    try:
        data = os.getxattr(path, name)
    except OSError as error:
        return "none" if error.errno == 61 else os.strerror(error.errno)
    letters = {1: "u:", 2: "u:", 4: "g:", 8: "g:", 16: "m:", 32: "o:"}
    entries = []
    for at in range(4, len(data), 8):
        tag, bits, who = struct.unpack_from("<HHI", data, at)
        entries.append(f"{letters[tag]}{'' if who == 0xFFFFFFFF else who}:{bits}")
    return ",".join(entries)


FULL = acl(f"u::rwx,u:{BOB}:rw,g::rx,g:{CREW}:rwx,m::rwx,o::-")


@check(root=True)
def acl_set_and_read_back():
    put("f", mode=0o644)
    os.mkdir("d")
    os.symlink("f", "l")
    result = [spelled("f"), spelled("d", DEFAULT)]
    os.setxattr("f", ACCESS, FULL)
    os.setxattr("d", DEFAULT, FULL)
    result += [spelled("f"), mode("f"), spelled("d", DEFAULT), mode("d"), spelled("d"), got(os.setxattr, "f", DEFAULT, FULL),
               got(os.setxattr, "l", ACCESS, FULL, follow_symlinks=False), sorted(os.listxattr("f")), sorted(os.listxattr("d"))]
    os.setxattr("f", ACCESS, acl("u::rw,g::r,o::r"))
    result += [spelled("f"), mode("f"), sorted(os.listxattr("f"))]
    os.removexattr("d", DEFAULT)
    return result + [spelled("d", DEFAULT), got(os.removexattr, "f", ACCESS), got(os.removexattr, "d", DEFAULT)]


@check(root=True)
def acl_that_are_wrong():
    put("f")
    wrong = [b"", b"x", struct.pack("<I", 1), FULL[:-1], FULL[:-8], acl("u::rwx,g::r"), acl(f"u::rwx,u:{BOB}:r,g::r,o::r"),
             acl("u::rwx,u::r,g::r,o::r"), struct.pack("<I", 2) + struct.pack("<HHI", 99, 7, 0)]
    return [[got(os.setxattr, "f", ACCESS, data), spelled("f"), mode("f")] for data in wrong]


@check(root=True)
def acl_decides_who_may():
    os.chmod(".", 0o755)
    result = {}
    for text in (f"u::rw,u:{BOB}:r,g::-,m::rwx,o::-", f"u::rw,u:{BOB}:-,g::rw,m::rwx,o::rw", f"u::-,u:{ALICE}:rw,g::r,m::rwx,o::rw",
                 f"u::rw,g::-,g:{CREW}:rw,m::r,o::-", f"u::rw,g::r,g:{CREW}:w,m::rw,o::-", f"u::rw,u:{BOB}:rw,g::rw,m::-,o::r"):
        put("f")
        os.chown("f", ALICE, STAFF)
        os.setxattr("f", ACCESS, acl(text))
        for name, (user, group, groups) in CALLERS.items():
            result[f"{text} {name}"] = as_user(user, lambda: [
                got(os.open, "f", flags) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)], group=group, groups=groups)
        os.unlink("f")
    return result


@check(root=True)
def acl_set_by_whom():
    os.chmod(".", 0o777)
    result = {}
    for bits in (0o644, 0o2755, 0o2644):
        for name, (user, group, groups) in CALLERS.items():
            put("f")
            os.chown("f", ALICE, STAFF)
            os.chmod("f", bits)
            outcome = as_user(user, lambda: [got(os.setxattr, "f", ACCESS, acl(f"u::rwx,u:{BOB}:rx,g::rx,m::rx,o::r")),
                                             got(os.removexattr, "f", ACCESS)], group=group, groups=groups)
            result[f"{bits:o} {name}"] = [outcome, mode("f"), spelled("f")]
            os.unlink("f")
    return result


@check(root=True)
def acl_keeps_setgid_for_its_group_only():
    os.chmod(".", 0o777)
    result = {}
    for bits in (0o2755, 0o2644, 0o6755):
        for name, (user, group, groups) in CALLERS.items():
            put("f")
            os.chown("f", ALICE, STAFF)
            os.chmod("f", bits)
            as_user(user, lambda: got(os.setxattr, "f", ACCESS, acl(f"u::rwx,u:{BOB}:rx,g::rx,m::rx,o::r")),
                    group=group, groups=groups)
            result[f"{bits:o} {name}"] = mode("f")
            os.unlink("f")
    return result


@check(root=True)
def acl_default_is_inherited():
    result = {}
    for umask in (0o022, 0o077, 0o000, 0o777):
        for text in (f"u::rwx,u:{BOB}:rw,g::rx,m::rwx,o::rx", f"u::rw,g::-,o::-", f"u::rwx,g::rwx,g:{CREW}:x,m::rx,o::r"):
            os.umask(0o022)
            os.mkdir("d")
            os.setxattr("d", DEFAULT, acl(text))
            os.umask(umask)
            os.close(os.open("d/f", os.O_CREAT | os.O_WRONLY, 0o666))
            os.close(os.open("d/g", os.O_CREAT | os.O_WRONLY, 0o640))
            os.mkdir("d/sub", 0o777)
            os.mkdir("d/tight", 0o700)
            os.mkfifo("d/p", 0o666)
            os.mknod("d/n", 0o100666)
            os.symlink("x", "d/l")
            names = ("f", "g", "sub", "tight", "p", "n")
            result[f"{umask:o} {text}"] = [[n, mode("d/" + n), spelled("d/" + n), spelled("d/" + n, DEFAULT)] for n in names]
            subprocess.run(["rm", "-rf", "d"], check=True)
    return result


@check(root=True)
def acl_and_umask_without_a_default():
    result = []
    for umask in (0o022, 0o077, 0o027):
        os.umask(umask)
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, 0o666))
        os.mkdir("d", 0o777)
        os.mknod("n", 0o100666)
        result.append([mode(name) for name in "fdn"])
        for name in "fn":
            os.unlink(name)
        os.rmdir("d")
    return result


@check(root=True)
def acl_mask_follows_chmod():
    put("f")
    os.setxattr("f", ACCESS, FULL)
    result = []
    for bits in (0o777, 0o740, 0o700, 0o604, 0o2070, 0o000):
        os.chmod("f", bits)
        result.append([mode("f"), spelled("f")])
    os.setxattr("f", ACCESS, acl("u::rw,g::r,o::-"))
    os.chmod("f", 0o751)
    return result + [mode("f"), spelled("f")]


@check(root=True)
def acl_moves_and_links():
    os.mkdir("d")
    os.setxattr("d", DEFAULT, FULL)
    put("f", mode=0o600)
    os.rename("f", "d/f")
    put("g", mode=0o600)
    os.link("g", "d/g")
    put("d/h")
    os.rename("d/h", "h")
    return [[mode(path), spelled(path)] for path in ("d/f", "d/g", "h")]


@check(root=True)
def acl_by_the_real_tools():
    os.mkdir("d")
    run = lambda *words: subprocess.run(words, capture_output=True, text=True)
    steps = [("setfacl", "-m", f"u:{BOB}:rwx,g:{CREW}:rx", "d"), ("setfacl", "-d", "-m", f"u:{BOB}:rwx", "d"),
             ("mkdir", "d/sub"), ("touch", "d/f"), ("chmod", "g-w", "d/f"), ("getfacl", "-nRp", "d"),
             ("cp", "-a", "d", "e"), ("getfacl", "-nRp", "e"), ("setfacl", "-b", "-R", "d"), ("getfacl", "-nRp", "d"),
             ("setfacl", "-k", "e"), ("getfacl", "-np", "e")]
    # getfacl lists files in the directory's order, which depends on the file system.
    return [[done.returncode, sorted(done.stdout.split("\n\n")), done.stderr] for done in (run(*step) for step in steps)]
