"""chmod and chown: the users who may call them, and the bits they clear."""
import os

from posix_check import ALICE, BOB, CREW, STAFF, as_user, call, check, describe, got, mode, put
from posix_permission import CALLERS, each_caller, own


@check(root=True)
def chmod_by_each_caller():
    os.chmod(".", 0o777)
    result = {}
    for bits in (0o644, 0o4755, 0o2755, 0o6777, 0o1777, 0o2644, 0o7000):
        for kind in ("file", "directory"):
            for name, (user, group, groups) in CALLERS.items():
                put("e") if kind == "file" else os.mkdir("e")
                own("e", bits=0o600)
                outcome = as_user(user, lambda: got(os.chmod, "e", bits), group=group, groups=groups)
                result[f"{bits:o} {kind} {name}"] = [outcome, mode("e")]
                os.unlink("e") if kind == "file" else os.rmdir("e")
    return result


@check(root=True)
def chown_by_each_caller():
    os.chmod(".", 0o777)
    result = {}
    for owner, group_id in ((ALICE, -1), (BOB, -1), (0, -1), (-1, STAFF), (-1, CREW), (-1, 0), (ALICE, CREW)):
        for bits in (0o644, 0o6755, 0o2644):
            for name, (user, group, groups) in CALLERS.items():
                put("f")
                own("f", bits=bits)
                outcome = as_user(user, lambda: got(os.chown, "f", owner, group_id), group=group, groups=groups)
                result[f"{owner} {group_id} {bits:o} {name}"] = [outcome, describe("f")]
                os.unlink("f")
    return result


@check(root=True)
def chown_by_an_owner_to_groups():
    """An owner may give a file to each group they are a member of, and to no other group."""
    os.chmod(".", 0o777)
    result = {}
    for bits in (0o644, 0o2755, 0o2644, 0o6711):
        for own_groups in ((), (CREW,), (STAFF, CREW), tuple(range(70_000, 70_100)) + (CREW,)):
            for wanted in (STAFF, CREW, 70_050, ALICE, 65200):
                put("f")
                own("f", group=ALICE, bits=bits)
                outcome = as_user(ALICE, lambda: [got(os.chown, "f", -1, wanted), got(os.chown, "f", ALICE, wanted),
                                                  got(os.chmod, "f", bits)], group=ALICE, groups=own_groups)
                result[f"{bits:o} {len(own_groups)} {wanted}"] = [outcome, describe("f")]
                os.unlink("f")
    return result


@check(root=True)
def chmod_setgid_of_a_group_of_others():
    """The owner's chmod sets set-group-ID only if the file's group is the owner's primary or a supplementary group."""
    os.chmod(".", 0o777)
    result = {}
    for group, groups in ((CREW, ()), (STAFF, ()), (CREW, (65200,)), (CREW, (65200, STAFF)), (CREW, tuple(range(70_000, 70_300)) + (STAFF,))):
        for kind in ("file", "directory"):
            put("e") if kind == "file" else os.mkdir("e")
            own("e", bits=0o600)
            as_user(ALICE, lambda: os.chmod("e", 0o2775), group=group, groups=groups)
            result[f"{kind} {group} {len(groups)}"] = mode("e")
            os.unlink("e") if kind == "file" else os.rmdir("e")
    return result


def chown_nothing(bits, *callers):
    os.chmod(".", 0o777)
    result = {}
    for name in callers:
        user, group, groups = CALLERS[name]
        put("f")
        own("f", bits=bits)
        outcome = as_user(user, lambda: got(os.chown, "f", -1, -1), group=group, groups=groups)
        result[name] = [outcome, describe("f")]
        os.unlink("f")
    return result


@check(root=True)
def chown_to_nobody_clears():
    return [chown_nothing(bits, "owner", "owner_in_group", "root") for bits in (0o644, 0o6755, 0o2644)]


@check(root=True)
def chown_to_nobody_of_a_plain_file():
    return chown_nothing(0o644, "group", "supplementary", "other")


@check(root=True)
def chown_to_nobody_by_others_changes_nothing():
    return {name: each[1] for name, each in chown_nothing(0o6755, "group", "supplementary", "other").items()}


@check(root=True)
def chown_to_nobody_by_others_fails():
    return {name: each[0] for name, each in chown_nothing(0o6755, "group", "supplementary", "other").items()}


@check(root=True)
def chown_of_links_and_directories():
    os.symlink("nowhere", "l")
    os.mkdir("d")
    os.chmod("d", 0o6755)
    os.mkfifo("p")
    os.lchown("l", ALICE, STAFF)
    os.chown("d", ALICE, STAFF)
    os.chown("p", ALICE, STAFF)
    before = [describe(name) for name in "ldp"]
    return [before, each_caller(lambda: [got(os.lchown, "l", -1, CREW), got(os.chown, "d", -1, CREW)]),
            [describe(name) for name in "ldp"]]


@check
def chmod_every_bit():
    put("f")
    os.mkdir("d")
    result = []
    for bits in list(range(0, 0o1000, 0o37)) + [1 << at for at in range(12)] + [0o7777]:
        os.chmod("f", bits)
        os.chmod("d", bits)
        result.append([mode("f"), mode("d")])
    return result


@check
def chmod_by_descriptor_and_link():
    put("f")
    os.symlink("f", "l")
    os.mkdir("d")
    os.mkfifo("p")
    descriptor = os.open("f", os.O_RDONLY)
    os.fchmod(descriptor, 0o640)
    result = [mode("f")]
    os.chmod("l", 0o604)
    result += [mode("f"), mode("l"), got(lambda: call("fchmodat", -100, b"l", 0o777, 0x100)), mode("f")]
    directory = os.open("d", os.O_RDONLY)
    os.fchmod(directory, 0o711)
    os.chmod("p", 0o600)
    path_only = os.open("f", os.O_PATH)
    result += [mode("d"), mode("p"), got(os.fchmod, path_only, 0o777), got(os.chmod, f"/proc/self/fd/{path_only}", 0o700)]
    result += [mode("f"), got(os.fchown, path_only, -1, -1), oct(os.fstat(descriptor).st_mode)]
    return result
