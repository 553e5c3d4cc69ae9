"""Files that hold absolute paths of the container, as a careless app stores them.

stale_paths.py make             makes the files in $HOME
stale_paths.py damage DIR N     makes N damaged copies of each of these files in DIR/damaged
stale_paths.py locked FILE COMMAND...   runs COMMAND while FILE, a database, is locked
"""

import json
import os
import plistlib
import random
import sqlite3
import subprocess
import sys

FOREIGN = "/private/var/mobile/Containers/Data/Application/6FA459EA-EE8A-3CA4-894E-DB77E160355E/Documents/photo.jpg"


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def make(home):
    os.chdir(home + "/Documents")
    photo = home + "/Documents/photo.jpg"
    write("photo.jpg", b"photo")
    os.symlink(photo, "link")
    os.symlink("photo.jpg", "relative")
    preferences = {"album": {"title": "x", "recent": photo}, "seen": "at " + photo}
    write("xml.plist", plistlib.dumps(preferences))
    gone = "file://" + home + "/Documents/my%20photo.jpg"
    write("binary.plist", plistlib.dumps([gone], fmt=plistlib.FMT_BINARY))
    write("state.json", json.dumps({"items": [{"path": photo}]}).replace("/", "\\/").encode())
    write("foreign.json", json.dumps([FOREIGN]).encode())
    for name, mode in (("app.db", "delete"), ("wal.db", "wal")):
        database = sqlite3.connect(name, isolation_level=None)
        database.execute(f"pragma journal_mode={mode}")
        database.execute("pragma wal_autocheckpoint=0")
        database.execute("create table \"it\"\"ems\" (id integer primary key, path text, data blob)")
        database.execute("create view endless as with recursive n(i) as (values(1) union all select i+1 from n) select * from n")
        for text in ("at " + photo, photo, photo):
            database.execute("insert into \"it\"\"ems\" (path, data) values (?, ?)", (text, photo.encode()))
    # Nothing else of these is an old path.
    write("middle.json", json.dumps(["at " + photo]).encode())
    write("notes.txt", photo.encode())
    write("truncated.plist", plistlib.dumps(preferences)[:-20])
    write("bookmark.plist", plistlib.dumps({"bookmark": b"book" + photo.encode()}))
    os.mkfifo("fifo.db")
    # The log is left as it is, as if the app had been killed.
    os._exit(0)


def damage(folder, count):
    generator = random.Random(38)
    os.mkdir(folder + "/damaged")
    for name in ("xml.plist", "binary.plist", "state.json", "app.db", "wal.db"):
        with open(f"{folder}/{name}", "rb") as file:
            content = file.read()
        for number in range(count):
            damaged = bytearray(content)
            for _ in range(generator.choice((1, 3, 30))):
                # Most of a database is empty space: the structure is at the beginning of its pages.
                place = generator.randrange(min(len(damaged), generator.choice((40, 200, 1 << 20))))
                damaged[place] = generator.randrange(256)
            if generator.randrange(4) == 0:
                del damaged[generator.randrange(16, len(damaged)):]
            write(f"{folder}/damaged/{number}.{name}", damaged)
    with open(f"{folder}/wal.db-wal", "rb") as file:
        log = file.read()
    for number in range(count):
        damaged = bytearray(log)
        for _ in range(generator.choice((1, 3, 30))):
            damaged[generator.randrange(min(len(damaged), generator.choice((64, 1 << 20))))] = generator.randrange(256)
        write(f"{folder}/damaged/{number}.log.db", content)
        write(f"{folder}/damaged/{number}.log.db-wal", damaged)


if sys.argv[1] == "make":
    make(os.environ["HOME"])
elif sys.argv[1] == "damage":
    damage(sys.argv[2], int(sys.argv[3]))
else:
    database = sqlite3.connect(sys.argv[2], isolation_level=None)
    database.execute("begin exclusive")
    sys.exit(subprocess.run(sys.argv[3:], check=False).returncode)
