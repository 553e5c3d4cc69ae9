"""All cases of rename(2) and renameat2(2): to itself, hard links, over existing entries, into itself, flags."""
import os
import select
import shutil

from posix_check import Child, call, check, content, describe, got, names, put, value

NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4


def renameat2(old, new, flags):
    return call("renameat2", -100, os.fsencode(old), -100, os.fsencode(new), flags)


def tree():
    """Returns kind, links, size and content of everything below the working directory."""
    result = {}
    for folder, folders, files in os.walk("."):
        for name in folders + files:
            path = os.path.join(folder, name)
            kind, _, _, _, links, size = describe(path)
            result[path] = [kind, links, size, content(path).decode() if kind[0] == "-" else ""]
    return result


KINDS = ("none", "file", "other_file", "same_file", "empty", "full", "link", "dangling", "fifo")


def make(kind, name):
    if kind in ("file", "other_file"):
        put(name, kind.encode())
    elif kind == "same_file":
        os.link("source", name)
    elif kind == "empty":
        os.mkdir(name)
    elif kind == "full":
        os.mkdir(name)
        put(name + "/x")
    elif kind == "link":
        os.symlink("elsewhere", name)
    elif kind == "dangling":
        os.symlink("nowhere", name)
    elif kind == "fifo":
        os.mkfifo(name)


def every_pair(flags):
    """Returns the outcome and the resulting tree of each kind of entry renamed over each other kind."""
    result = {}
    for old in KINDS:
        for new in KINDS:
            if new == "same_file" and old != "file" or old == "same_file":
                continue
            os.mkdir("t")
            os.chdir("t")
            os.mkdir("there")
            put("elsewhere")
            make(old, "source")
            make(new, "there/target")
            outcome = value(renameat2, "source", "there/target", flags)
            result[f"{old} over {new}"] = [outcome, tree()]
            os.chdir("..")
            shutil.rmtree("t")
    return result


@check
def rename_each_kind_over_each():
    return every_pair(0)


@check
def rename_noreplace():
    return every_pair(NOREPLACE)


@check
def rename_exchange():
    return every_pair(EXCHANGE)


@check
def rename_bad_flags():
    put("a")
    put("b")
    return [got(renameat2, "a", "b", flags) for flags in (NOREPLACE | EXCHANGE, 8, 1 << 31, EXCHANGE | WHITEOUT)]


@check(root=True)
def rename_whiteout():
    put("a")
    return [got(renameat2, "a", "b", WHITEOUT), names()]


@check
def rename_onto_itself():
    put("f", b"content")
    os.mkdir("d")
    os.link("f", "h")
    result = [got(os.rename, "f", "f"), got(os.rename, "d", "d"), got(os.rename, "f", "h"), got(os.rename, "./f", "d/../f")]
    for flags in (NOREPLACE, EXCHANGE):
        result += [got(renameat2, "f", "f", flags), got(renameat2, "f", "h", flags), got(renameat2, "d", "d", flags)]
    return result + [tree()]


@check
def rename_into_itself():
    os.makedirs("a/b/c")
    result = [got(os.rename, "a", "a/x"), got(os.rename, "a", "a/b/c/x"), got(os.rename, "a/b", "a/b/c"),
              got(os.rename, "a/b/c", "a/b"), got(os.rename, "a/b", "a"), got(renameat2, "a", "a/b/c", EXCHANGE),
              got(renameat2, "a/b/c", "a", EXCHANGE), got(os.rename, "a", "a/b/../../a2")]
    return result + [tree()]


@check
def rename_dots():
    os.mkdir("d")
    put("f")
    os.symlink("d", "l")
    return [got(os.rename, old, new) for old, new in (
        (".", "x"), ("..", "x"), ("d/.", "x"), ("d/..", "x"), ("d", "."), ("d", ".."), ("f", "."), ("f", "d/."),
        ("l/", "x"), ("l/.", "x"), ("f/", "x"), ("f", "x/"), ("d", "x/"), ("x/", "d/"), ("d/", "y"), ("", "x"), ("f", ""))
    ] + [names()]


@check
def rename_counts_links_of_directories():
    os.makedirs("a/sub/deep")
    os.makedirs("b/old")
    result = [describe(path)[4] for path in ("a", "b", "a/sub", ".")]
    os.rename("a/sub", "b/sub")
    result += [describe(path)[4] for path in ("a", "b", "b/sub", ".")]
    os.rename("b/sub/deep", "b/old")
    result += [describe(path)[4] for path in ("a", "b", "b/sub")]
    put("file")
    renameat2("file", "b/old", EXCHANGE)
    result += [describe(path)[4] for path in ("a", "b", ".", "file")]
    return result + [os.stat("b/sub/..").st_ino == os.stat("b").st_ino, names("b/sub/..")]


@check
def rename_with_open_files():
    put("f", b"first")
    put("g", b"second")
    first, second = os.open("f", os.O_RDWR), os.open("g", os.O_RDWR)
    os.mkdir("d")
    directory = os.open("d", os.O_RDONLY)
    os.rename("f", "g")
    os.rename("d", "e")
    put("e/x")
    os.write(first, b"F")
    os.write(second, b"S")
    return [os.pread(first, 9, 0), os.pread(second, 9, 0), content("g"), os.fstat(second).st_nlink, os.fstat(first).st_nlink,
            os.listdir(directory), os.readlink(f"/proc/self/fd/{second}").endswith("g (deleted)"),
            os.readlink(f"/proc/self/fd/{directory}").endswith("/e")]


@check
def rename_keeps_what_belongs_to_the_file():
    put("f", b"content", 0o640)
    os.setxattr("f", "user.a", b"1")
    os.utime("f", ns=(1_000_000_001, 2_000_000_002))
    inode = os.stat("f").st_ino
    os.mkdir("d")
    os.rename("f", "d/g")
    status = os.stat("d/g")
    return [status.st_ino == inode, status.st_mtime_ns, status.st_atime_ns, oct(status.st_mode), os.listxattr("d/g")]


@check
def rename_in_the_working_directory():
    os.makedirs("a/b")
    os.chdir("a/b")
    os.rename("../../a", "../../c")
    put("x")
    os.mkdir("y")
    return [os.getcwd().endswith("/c/b"), names(".."), names("../.."), names("."), got(os.rename, "../b", "../../z"),
            os.getcwd().endswith("/z")]


@check
def rename_of_a_deep_tree_is_seen_at_once():
    os.makedirs("a/" + "/".join(str(n) for n in range(30)))
    deep = "/".join(str(n) for n in range(30)) + "/f"
    put("a/" + deep, b"deep")
    os.stat("a/" + deep)
    os.rename("a", "b")
    return [got(os.stat, "a/" + deep), content("b/" + deep), got(os.mkdir, "a"), got(os.stat, "a/0")]


def while_it_is_replaced(replace, look):
    """Returns the results of `look` while another process replaced `f` a thousand times."""
    put("f", b"a" * 5000)
    put("g", b"b" * 5000)

    def churn():
        for _ in range(1000):
            replace()
        return True
    child, seen = Child(churn), set()
    while select.select([child.reader], [], [], 0)[0] == []:
        seen.add(value(look))
    return [child.result(), sorted(seen)]


def whole():
    data = content("f")
    return "whole" if len(data) == 5000 and len(set(data)) == 1 else "torn"


@check
def rename_over_leaves_no_gap():
    """During renames over a file, there is always a file with its name, and it is completely the old one or the new one."""
    def replace():
        put("next", bytes([os.urandom(1)[0]]) * 5000)
        os.rename("next", "f")
    return while_it_is_replaced(replace, whole)


@check
def rename_exchange_leaves_no_gap():
    return while_it_is_replaced(lambda: renameat2("f", "g", EXCHANGE), whole)


@check
def rename_of_the_working_directory_meanwhile():
    """getcwd(3) and `..` are right at every moment, whatever the name of a directory above."""
    os.makedirs("a/b/c")

    top = os.open(".", os.O_PATH)
    os.chdir("a/b/c")

    def churn():
        for _ in range(500):
            os.rename("a", "other", src_dir_fd=top, dst_dir_fd=top)
            os.rename("other", "a", src_dir_fd=top, dst_dir_fd=top)
        return True
    child = Child(churn)
    inode, good = os.stat("..").st_ino, True
    while select.select([child.reader], [], [], 0)[0] == []:
        good = good and os.getcwd().endswith("/b/c") and os.stat("..").st_ino == inode and names() == []
    return [child.result(), good]


@check
def rename_across_file_systems():
    put("f")
    os.mkdir("d")
    other = f"/dev/shm/posix-{os.getpid()}"
    os.mkdir(other)
    put(other + "/f")
    result = [got(os.rename, "f", other + "/g"), got(os.rename, other + "/f", "g"), got(os.rename, "d", other + "/d"),
              got(os.link, "f", other + "/g"), got(os.link, other + "/f", "g"), got(renameat2, "f", other + "/f", EXCHANGE)]
    shutil.rmtree(other)
    return result + [names()]
