"""Uses SQLite while the device is locked.

    protection_sqlite.py MOUNT

A process writes to a database in a folder of one class. The device is locked in the middle of its transaction, and the process
makes one more attempt. With class completeWhenUserInactive, it goes on with the transaction while the device is locked, and
makes the attempt after access has expired. After the unlock it continues. Each line of the output has the class, the journal
mode, the attempt, its outcome while locked (for completeWhenUserInactive before and after the expiry), and its outcome after
the unlock. Then come the findings of a new process: the result of integrity_check, and how many of the 1000 committed and 1
uncommitted rows there are.
"""
import os
import sqlite3
import sys


def control(mount, name, text):
    fd = os.open(os.path.join(mount, ".purgefs", name), os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def outcome(call):
    try:
        call()
        return "ok"
    except sqlite3.Error as error:
        return error.sqlite_errorname


def connect(path, mode):
    db = sqlite3.connect(path, isolation_level=None)
    if mode == "wal-exclusive":
        db.execute("pragma locking_mode=exclusive")
    db.execute("pragma journal_mode=" + mode.split("-")[0]).fetchone()
    return db


def count(db):
    return db.execute("select count(*) from t").fetchone()[0]


def work(folder, mode, attempt, expires, say, hear):
    path = os.path.join(folder, "db.sqlite")
    db = connect(path, mode)
    db.execute("create table t(x, y)")
    db.execute("begin")
    db.executemany("insert into t values(?, ?)", [(number, "v" * 200) for number in range(1000)])
    db.execute("commit")
    # Exclusive locking admits no other connection.
    other = connect(path, mode) if mode != "wal-exclusive" else db
    count(other)
    db.execute("begin")
    db.execute("insert into t values(5000, 'in a transaction')")
    say("ready")
    hear()
    if expires:
        say(outcome(lambda: (count(db), count(other), db.execute("update t set y = 'still' where x = 5000"))))
        hear()
    attempts = {
        "commit": lambda: db.execute("commit"),
        "rollback": lambda: db.execute("rollback"),
        "select": lambda: count(db),
        "select elsewhere": lambda: count(other),
        "open": lambda: count(sqlite3.connect(path)),
        "new database": lambda: sqlite3.connect(path + ".new").execute("create table t(x)"),
    }
    say(outcome(attempts[attempt]))
    hear()
    # A program would do this once it has noticed the unlock.
    if db.in_transaction:
        db.execute("rollback")
    say(outcome(lambda: (count(db), db.execute("insert into t values(1, 2)"), db.execute("delete from t where y = 2"))))
    hear()
    other.close()
    db.close()


def child_of(body):
    """Starts a child. Returns two functions, which receive a message from it and send it one. After the child's end, the first
    returns its signal."""
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(from_child)
        os.close(to_child)
        output, source = os.fdopen(to_parent, "w", buffering=1), os.fdopen(from_parent)
        body(lambda text: output.write(text + "\n"), source.readline)
        os._exit(0)
    os.close(to_parent)
    os.close(from_parent)
    source, sink = os.fdopen(from_child), os.fdopen(to_child, "w", buffering=1)

    def hear():
        line = source.readline().strip()
        if line:
            return line
        status = os.waitpid(pid, 0)[1]
        return {7: "SIGBUS"}.get(os.WTERMSIG(status), f"signal {os.WTERMSIG(status)}") if os.WIFSIGNALED(status) else "end"

    return hear, lambda text: sink.write(text + "\n")


def scenario(mount, cls, mode, attempt):
    folder = os.path.join(mount, "Documents", f"{cls} {mode} {attempt}")
    os.mkdir(folder)
    os.setxattr(folder, "user.purgefs.fileProtection", cls.encode())
    expires = cls == "completeWhenUserInactive"
    hear, tell = child_of(lambda say, hear: work(folder, mode, attempt, expires, say, hear))
    assert hear() == "ready"
    control(mount, "device.state", "lock")
    control(mount, "device.clock", "+10s")
    tell("locked")
    before = ""
    if expires:
        before = hear() + ", "
        control(mount, "device.clock", "+1h")
        tell("expired")
    while_locked = hear()
    control(mount, "device.state", "unlock")
    afterwards = "-"
    if not while_locked.startswith("SIG"):
        tell("unlocked")
        afterwards = hear()
        tell("end")
        assert hear() == "end"
    db = sqlite3.connect(os.path.join(folder, "db.sqlite"))
    integrity = db.execute("pragma integrity_check").fetchone()[0]
    print(f"{cls} {mode} {attempt}: {before}{while_locked}, {afterwards}; {integrity} {count(db)}")
    db.close()


for cls in ["complete", "completeUnlessOpen", "completeWhenUserInactive"]:
    for mode in ["wal", "wal-exclusive", "delete"]:
        for attempt in ["commit", "rollback", "select", "select elsewhere", "open", "new database"]:
            scenario(sys.argv[1], cls, mode, attempt)
