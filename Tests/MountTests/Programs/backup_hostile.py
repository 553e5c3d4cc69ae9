"""Creates hostile backups with correct checksums, and restores them.

    backup_hostile.py PURGEFS DIRECTORY

Prints `refused NAME` or `restored NAME` for each, and a line for each trace that it has left.
"""
import io
import json
import os
import subprocess
import sys
import tarfile
import zlib

purgefs, place = sys.argv[1:3]
DEVICE = {"version": 1, "profile": "documented", "total": 68719476736, "others": 0, "othersPurgeable": 0,
          "thresholds": {"veryLow": "5%", "low": "10%", "nearLow": "10.5%", "desired": "11%"},
          "protection": "completeUntilFirstUserAuthentication", "containerID": "23E4852D-58D1-431B-8D31-69238AD507EE", "boots": 1,
          "counters": {"purgedFiles": 0, "purgedBytes": 0, "refusedWrites": 0, "protectionDenied": 0}}
KINDS = {"directory": tarfile.DIRTYPE, "file": tarfile.REGTYPE, "symbolicLink": tarfile.SYMTYPE, "hardLink": tarfile.LNKTYPE,
         "device": tarfile.CHRTYPE, "fifo": tarfile.FIFOTYPE}


def crc(data):
    return "%08x" % zlib.crc32(data)


def entry(path, /, kind="file", data=b"data", link="", mode=0o644, attributes={}, **more):
    """Returns the values of one entry for the archive and the manifest. `more` overrides members of the manifest."""
    if kind in ("symbolicLink", "directory"):
        mode = 0o777 if kind == "symbolicLink" else 0o755
    return dict(path=path, kind=kind, data=data if kind == "file" else b"", link=link, mode=mode, attributes=attributes, more=more)


def line(each):
    link = each["link"].encode()
    metadata = b"%s %d 0 0 " % (each["kind"].encode(), each["mode"]) + b"%d %s" % (len(link), link)
    if each["kind"] in ("file", "directory"):
        for name, value in sorted(each["attributes"].items()):
            metadata += b"%d %s%d %s" % (len(name), name.encode(), len(value), value)
    found = {"path": each["path"] or ".", "type": each["kind"], "modified": "1700000000.000000000"}
    if each["kind"] == "file":
        found.update(size=len(each["data"]), crc32=crc(each["data"]))
    found["metadata"] = crc(metadata)
    found.update(each["more"])
    return json.dumps({name: value for name, value in found.items() if value is not None})


def manifest(entries, header, omissions):
    first = {"kind": "purgefs backup", "version": 1, "created": "2026-11-22T12:00:00.000Z", "container": DEVICE["containerID"], "source": "/nowhere",
             "device": DEVICE}
    first.update(header)
    text = json.dumps(first)[:-1] + ',"entries":[\n' + ",\n".join(map(line, entries))
    size = sum(len(each["data"]) for each in entries)
    text += '\n],"leftOut":[' + ",".join("\n" + json.dumps(each) for each in omissions)
    text += '\n],"totals":' + json.dumps({"entries": len(entries), "bytes": size, "leftOut": 0, "leftOutBytes": 0}) + ",\n"
    return (text + '"crc32":"%s"}\n' % crc(text.encode())).encode()


def add(archive, each):
    info = tarfile.TarInfo("container" + ("/" + each["path"] if each["path"] else ""))
    info.type, info.mode, info.mtime = KINDS[each["kind"]], each["mode"], 1700000000
    info.linkname = "container/" + each["link"] if each["kind"] == "hardLink" else each["link"]
    info.size = len(each["data"])
    info.pax_headers = {"SCHILY.xattr." + name: value.decode() for name, value in each["attributes"].items()}
    archive.addfile(info, io.BytesIO(each["data"]))


def backup(entries, header={}, more=(), omissions=()):
    """Returns a backup. The entries in `more` are in its archive but not in its manifest."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        text = manifest(entries, header, omissions)
        info = tarfile.TarInfo("manifest.json")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
        for each in list(entries) + list(more):
            add(archive, each)
    return out.getvalue()


def folder(path):
    return entry(path, "directory")


ROOT, DOCUMENTS = folder(""), folder("Documents")
outside = os.path.join(place, "outside")
CASES = {
    # This backup must be correct in every respect, or the refusals of the others prove nothing.
    "right": backup([ROOT, DOCUMENTS, entry("Documents/a", attributes={"user.x": b"v", "user.purgefs.isPurgeable": b"high"}),
                     entry("Documents/b", "hardLink", link="Documents/a"), entry("Documents/l", "symbolicLink", link="/etc"),
                     entry("Documents/s", mode=0o6755)]),
    "up": backup([ROOT, entry("../outside/a")]),
    "up later": backup([ROOT, DOCUMENTS, entry("Documents/../../outside/a")]),
    "absolute": backup([ROOT, entry("/" + outside + "/a")]),
    "dot": backup([ROOT, entry("./a")]),
    "nothing": backup([ROOT, DOCUMENTS, entry("Documents//a")]),
    "zero": backup([ROOT, entry("a", path="a\0b")]),
    "through a link": backup([ROOT, entry("link", "symbolicLink", link=outside), entry("link/a")]),
    "through a link up": backup([ROOT, entry("link", "symbolicLink", link="../../outside"), entry("link/a")]),
    "into a link": backup([ROOT, entry("link", "symbolicLink", link=outside + "/a"), entry("link")]),
    "folder on a link": backup([ROOT, entry("link", "symbolicLink", link=outside), folder("link"), entry("link/a")]),
    "hard link up": backup([ROOT, entry("a", "hardLink", link="../../outside/secret")]),
    "hard link to a link": backup([ROOT, entry("l", "symbolicLink", link=outside + "/secret"), entry("a", "hardLink", link="l")]),
    "hard link to nothing": backup([ROOT, entry("a", "hardLink", link="b")]),
    "hard link to a folder": backup([ROOT, DOCUMENTS, entry("a", "hardLink", link="Documents")]),
    "hard link through a link": backup([ROOT, entry("l", "symbolicLink", link=outside), entry("a", "hardLink", link="l/secret")]),
    "tmp": backup([ROOT, folder("tmp"), entry("tmp/a")]),
    "Caches": backup([ROOT, folder("Library"), folder("Library/Caches"), entry("Library/Caches/a")]),
    "control directory": backup([ROOT, folder(".purgefs"), entry(".purgefs/events")]),
    "long name": backup([ROOT, entry("x" * 256)]),
    "twice": backup([ROOT, entry("a"), entry("a", data=b"other")]),
    "no parent": backup([ROOT, entry("Documents/a")]),
    "parent is a file": backup([ROOT, entry("a"), entry("a/b")]),
    "no root": backup([DOCUMENTS, entry("Documents/a")]),
    "root is a file": backup([entry("")]),
    "root is a link": backup([entry("", "symbolicLink", link=outside), entry("a")]),
    "device": backup([ROOT, entry("a", "device", type="file", size=0, crc32="00000000")]),
    "fifo": backup([ROOT, entry("a", "fifo", type="file", size=0, crc32="00000000")]),
    "other type": backup([ROOT, entry("a", type="directory")]),
    "more than in the manifest": backup([ROOT, entry("a")], more=[entry("b")]),
    "record of blocks": backup([ROOT, entry("a", attributes={"user.purgefs.extents": b"szzz"})]),
    "unknown attribute": backup([ROOT, entry("a", attributes={"user.purgefs.start": b"x"})]),
    "raw attribute": backup([ROOT, entry("a", attributes={"user.purgefs.raw.x": b"x"})]),
    "computed attribute": backup([ROOT, entry("a", attributes={"user.purgefs.tier": b"caches"})]),
    "bad mark": backup([ROOT, entry("a", attributes={"user.purgefs.isPurgeable": b"maybe"})]),
    "Apple's name": backup([ROOT, entry("a", attributes={"com.apple.MobileBackup": b"1"})]),
    "less than its size": backup([ROOT, entry("a", size=3)]),
    "more than its size": backup([ROOT, entry("a", size=5)]),
    "negative size": backup([ROOT, entry("a", size=-1)]),
    "huge size": backup([ROOT, entry("a", size=2 ** 63 - 1)]),
    "size out of range": backup([ROOT, entry("a", size=2 ** 70)]),
    "other checksum": backup([ROOT, entry("a", crc32="00000000")]),
    "no checksum": backup([ROOT, entry("a", crc32=None)]),
    "runs out of order": backup([ROOT, entry("a", runs=[[2, 1], [1, 1]])]),
    "runs beyond the end": backup([ROOT, entry("a", runs=[[2 ** 62, 2 ** 62], [2 ** 63 - 1, 5]])]),
    "negative runs": backup([ROOT, entry("a", runs=[[-5, 2 ** 63 - 1]])]),
    "odd runs": backup([ROOT, entry("a", runs=[[1]])]),
    "no time": backup([ROOT, entry("a", modified="now")]),
    "late": backup([ROOT, entry("a", modified="9223372036854775807.999999999")]),
    "long ago": backup([ROOT, entry("a", modified="-9223372036854775808.000000000")]),
    "impossible time": backup([ROOT, entry("a", modified="0.9999999999")]),
    "no path": backup([ROOT, entry("a", path=None)]),
    "path not in Base64": backup([ROOT, entry("a", path=None, pathBase64="!")]),
    "other version": backup([ROOT], {"version": 2}),
    "other kind": backup([ROOT], {"kind": "backup"}),
    "no device": backup([ROOT], {"device": None}),
    "device of no size": backup([ROOT], {"device": dict(DEVICE, total=-1)}),
    "device of any size": backup([ROOT], {"device": dict(DEVICE, total=2 ** 63 - 1)}),
    "device without a UUID": backup([ROOT], {"device": dict(DEVICE, containerID="../../x")}),
    "container of escapes": backup([ROOT], {"container": "\x1b[31m"}),
    "date of escapes": backup([ROOT], {"created": "\x1b[31m2026\n"}),
    "both paths": backup([ROOT, entry("a", pathBase64="YQ==")]),
    "more left out than there can be": backup([ROOT], omissions=[
        {"path": "tmp", "reason": "temporary", "bytes": 2 ** 62, "entries": 2 ** 62}] * 3),
    "less than nothing left out": backup([ROOT], omissions=[
        {"path": "tmp", "reason": "temporary", "bytes": 5, "entries": size} for size in (1, -1)]),
    "nothing in it": backup([]),
    "no archive": b"",
    "text": b"{}" * 5000,
    "gzip": b"\x1f\x8b" + bytes(2000),
}


def main():
    os.mkdir(outside)
    with open(os.path.join(outside, "secret"), "w") as file:
        file.write("secret")
    before = sorted(os.listdir(place))
    for name, content in CASES.items():
        path = os.path.join(place, "attack")
        with open(path, "wb") as file:
            file.write(content)
        target = os.path.join(place, "restored")
        outcome = subprocess.run([purgefs, "backup", "restore", path, target], capture_output=True, timeout=60)
        os.unlink(path)
        if outcome.returncode == 0:
            print("restored", name)
            subprocess.run(["rm", "-rf", target], check=True)
        elif outcome.returncode == 1:
            print("refused", name)
        else:
            print("ended with", outcome.returncode, name, outcome.stderr.decode(errors="replace"))
        if b"Nothing was" not in outcome.stderr and outcome.returncode == 1:
            print("unclear", name, outcome.stderr.decode(errors="replace"))
        for trace in sorted(set(os.listdir(place)) - set(before)) + sorted(set(os.listdir(outside)) - {"secret"}):
            print("left", trace, "by", name)
        if os.stat(os.path.join(outside, "secret")).st_nlink != 1:
            print("linked", name)


main()
