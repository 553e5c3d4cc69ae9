"""Extended attributes: sizes, flags, name spaces, permissions, and the calls that preserve them."""
import os

from posix_check import ALICE, BOB, STAFF, as_user, call, check, content, got, put, readable, value


def visible(path):
    return sorted(os.listxattr(path, follow_symlinks=False))


@check
def xattr_create_and_replace():
    put("f")
    return [
        got(os.setxattr, "f", "user.a", b"1", os.XATTR_REPLACE), got(os.setxattr, "f", "user.a", b"1", os.XATTR_CREATE),
        got(os.setxattr, "f", "user.a", b"2", os.XATTR_CREATE), got(os.setxattr, "f", "user.a", b"3", os.XATTR_REPLACE),
        value(os.getxattr, "f", "user.a"), got(os.setxattr, "f", "user.a", b"4", 3), got(os.setxattr, "f", "user.a", b"4", 4),
        got(os.removexattr, "f", "user.a"), got(os.removexattr, "f", "user.a"), got(os.getxattr, "f", "user.a"), visible("f")]


@check
def xattr_values():
    """Values may be empty, long, or contain zeros and any other bytes. Any value can replace any other."""
    put("f")
    values = [b"", b"\0", b"a\0b", bytes(range(256)), b"x" * 1000, b"y" * 3000, b"z"]
    result = []
    for one in values:
        for other in values:
            os.setxattr("f", "user.a", one)
            os.setxattr("f", "user.a", other)
            result.append(os.getxattr("f", "user.a") == other)
    return result


@check
def xattr_too_large():
    result = []
    for size in (3900, 4096, 5000, 65536, 65537, 1 << 20):
        put("f")
        result.append([size, got(os.setxattr, "f", "user.a", b"v" * size), visible("f")])
        os.unlink("f")
    return result


@check
def xattr_names():
    put("f")
    spelled = ["user." + "n" * 250, "user." + "n" * 251, "user.", "user", "", "user.\u00e9", "user.e\u0301", "user.a b", "user.A",
               "user.a", "user.\n", "user..", "user.com.apple.x", "users.a", "USER.a", "system.a", "bogus.a", "n" * 300]
    result = [[name[:20], got(os.setxattr, "f", name, name.encode())] for name in spelled if "." in name and name != "bogus.a"
              and not name.startswith(("users", "USER"))]
    return result + [visible("f"), [value(os.getxattr, "f", name) == name for name in visible("f")]]


@check
def xattr_names_of_any_bytes():
    put("f")
    spelled = [b"user.\xff", b"user.\xfe", b"user.\xc3", b"user.\x80a"]
    result = [got(os.setxattr, b"f", name, name) for name in spelled]
    return result + [readable(sorted(os.fsencode(n) for n in os.listxattr(b"f"))),
                     [value(os.getxattr, b"f", name) == name.decode("latin-1") for name in spelled],
                     got(os.removexattr, b"f", spelled[0]), len(os.listxattr(b"f"))]


@check
def xattr_without_a_name_space():
    put("f")
    return [got(os.setxattr, "f", name, b"1") for name in ("com.apple.x", "plain", "users.a", "USER.a", "bogus.a", "user")]


@check
def xattr_many():
    put("f")
    for number in range(60):
        os.setxattr("f", f"user.name{number}", b"%d" % number)
    result = [len(visible("f")), all(os.getxattr("f", f"user.name{n}") == b"%d" % n for n in range(60))]
    for number in range(0, 60, 2):
        os.removexattr("f", f"user.name{number}")
    return result + [visible("f")]


@check
def xattr_short_buffers():
    import ctypes
    put("f")
    os.setxattr("f", "user.long", b"0123456789")
    result = []
    for size in (0, 1, 9, 10, 11):
        buffer = ctypes.create_string_buffer(100)
        result.append([size, value(call, "getxattr", b"f", b"user.long", buffer, size), readable(buffer.value)])
        buffer = ctypes.create_string_buffer(100)
        result.append([size, value(call, "listxattr", b"f", buffer, size), readable(buffer.value)])
    return result


def each_kind():
    put("file")
    os.mkdir("directory")
    os.symlink("file", "link")
    os.mkfifo("fifo")
    os.mknod("socket", 0o140644)


@check
def xattr_of_each_kind():
    each_kind()
    return [[kind, space, got(os.setxattr, kind, space + ".a", b"1", follow_symlinks=False),
             got(os.getxattr, kind, space + ".a", follow_symlinks=False), visible(kind)]
            for kind in ("file", "directory", "link", "fifo", "socket") for space in ("user",)]


@check(root=True)
def xattr_trusted():
    os.chmod(".", 0o755)
    each_kind()
    put("theirs", mode=0o666)
    os.chown("theirs", ALICE, STAFF)
    result = [[kind, got(os.setxattr, kind, "trusted.a", b"1", follow_symlinks=False),
               value(os.getxattr, kind, "trusted.a", follow_symlinks=False), visible(kind)]
              for kind in ("file", "directory", "link", "fifo", "theirs")]
    as_alice = as_user(ALICE, lambda: [
        visible("theirs"), got(os.getxattr, "theirs", "trusted.a"), got(os.setxattr, "theirs", "trusted.b", b"1"),
        got(os.removexattr, "theirs", "trusted.a"), got(os.getxattr, "theirs", "trusted.none")])
    return result + [as_alice, got(os.removexattr, "theirs", "trusted.a"), visible("theirs")]


@check(root=True)
def xattr_security():
    os.chmod(".", 0o755)
    put("theirs", mode=0o666)
    os.chown("theirs", ALICE, STAFF)
    result = [got(os.setxattr, "theirs", "security.a", b"1"), value(os.getxattr, "theirs", "security.a"), visible("theirs")]
    result.append(as_user(ALICE, lambda: [
        got(os.setxattr, "theirs", "security.b", b"1"), got(os.removexattr, "theirs", "security.a"),
        value(os.getxattr, "theirs", "security.a"), visible("theirs"),
        got(os.setxattr, "theirs", "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))]))
    return result


@check(root=True)
def xattr_permissions():
    os.chmod(".", 0o777)
    put("f", mode=0o640)
    os.mkdir("sticky")
    for path in ("f", "sticky"):
        os.chown(path, ALICE, STAFF)
        os.setxattr(path, "user.a", b"1")
    os.chmod("sticky", 0o1777)

    def use():
        return [[got(os.getxattr, path, "user.a"), got(os.listxattr, path), got(os.setxattr, path, "user.b", b"1"),
                 got(os.removexattr, path, "user.b"), got(os.removexattr, path, "user.none")] for path in ("f", "sticky")]
    return [as_user(ALICE, use), as_user(BOB, use, groups=(STAFF,)), as_user(BOB, use)]


@check
def xattr_stays_with_the_file():
    put("f")
    os.setxattr("f", "user.a", b"1")
    os.link("f", "h")
    os.rename("f", "g")
    result = [visible("g"), visible("h")]
    os.setxattr("h", "user.b", b"2")
    put("g", b"rewritten")
    os.truncate("g", 0)
    os.chmod("g", 0o600)
    result += [visible("g")]
    descriptor = os.open("g", os.O_RDONLY)
    os.unlink("g")
    os.unlink("h")
    os.setxattr(descriptor, "user.c", b"3")
    return result + [sorted(os.listxattr(descriptor)), value(os.getxattr, descriptor, "user.a")]


@check
def xattr_through_descriptors():
    put("f")
    os.mkdir("d")
    os.symlink("f", "l")
    result = []
    for path, flags in (("f", os.O_RDONLY), ("f", os.O_WRONLY), ("d", os.O_RDONLY), ("f", os.O_PATH)):
        descriptor = os.open(path, flags)
        result.append([got(os.setxattr, descriptor, "user.a", b"1"), got(os.getxattr, descriptor, "user.a"),
                       got(os.listxattr, descriptor), got(os.removexattr, descriptor, "user.a")])
    os.setxattr("l", "user.through", b"1")
    return result + [visible("f"), visible("l")]
