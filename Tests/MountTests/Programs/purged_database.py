"""Uses SQLite while its database is purged.

    purged_database.py FOLDER COMMAND...

A process has a database open in a folder, with 100 committed rows. COMMAND, with the name of the folder as its last argument,
then takes all files below the folder. Each line of the output has the journal mode, when the files went (between two
transactions, or in the middle of one), an attempt of the process, and its outcome. The last attempt is made by a new
connection, as after a restart.
"""
import os
import sqlite3
import subprocess
import sys


def outcome(call):
    try:
        return call()
    except sqlite3.Error as error:
        return error.sqlite_errorname


def connect(path):
    return sqlite3.connect(path, isolation_level=None)


def count(db):
    return db.execute("select count(*) from t").fetchone()[0]


def insert(db):
    return db.execute("insert into t values(1000)").rowcount


def use(folder, mode, moment, command):
    os.mkdir(folder)
    path = os.path.join(folder, "db.sqlite")
    db = connect(path)
    db.execute("pragma journal_mode=" + mode).fetchone()
    db.execute("create table t(x)")
    db.execute("begin")
    db.executemany("insert into t values(?)", [(number,) for number in range(100)])
    db.execute("commit")
    if moment == "within":
        db.execute("begin")
        insert(db)
    subprocess.run(command + [folder], stdout=subprocess.DEVNULL, check=True)
    attempts = [("select", lambda: count(db)), ("insert", lambda: insert(db))]
    if moment == "within":
        attempts.append(("commit", lambda: db.execute("commit") and "ok"))
    attempts += [("select again", lambda: count(db)), ("restart", lambda: count(connect(path)))]
    for name, call in attempts:
        print(mode, moment, name, outcome(call), sep=" | ")
    db.close()


if __name__ == "__main__":
    for mode in ("delete", "truncate", "wal"):
        for moment in ("between", "within"):
            use(os.path.join(sys.argv[1], f"{mode}-{moment}"), mode, moment, sys.argv[2:])
