# Programs that meet a fault at each of their calls (purgefs sweep).

# Sweeps COMMAND over the folder `seed`, and prints only what does not change from run to run.
# All faults except a loss of power, unless FAULTS names others.
swept() {
    purgefs sweep --total 64M --moments "${FAULTS-error,errors,full,short,purge,lock}" --seed "$IN/seed" "$@" 2>&1 \
        | sed -E -e 's/^(purgefs: sweep: ).* ([0-9]+ failed).*/\1\2/' -e '/^    /d' \
            -e 's#objects/[0-9a-f/]{41}#objects/OBJECT#' -e 's#objects/[0-9a-f]{2}$#objects/FOLDER#' -e 's#objects/[0-9a-f]{2}/tmp_obj_.{6}#objects/TEMPORARY#'
    echo "status ${PIPESTATUS[0]}"
}

# Makes a database in this mode, and sweeps a number of transactions.
sweep_sqlite() {
    mkdir -p seed/Documents
    sqlite3 seed/Documents/db "PRAGMA journal_mode=$1; CREATE TABLE t(i INTEGER PRIMARY KEY, a, b);
        INSERT INTO t VALUES(1, 0, 0);" >/dev/null
    cat > run.sql <<-'END'
	BEGIN; UPDATE t SET a = a + 1; UPDATE t SET b = b + 1; INSERT INTO t(a) VALUES (randomblob(6000)); COMMIT;
	BEGIN; UPDATE t SET a = a + 1; UPDATE t SET b = b + 1; DELETE FROM t WHERE i > 1; COMMIT;
	END
    cat > check.sh <<-'END'
	sqlite3 ~/Documents/db 'PRAGMA integrity_check; SELECT a = b AND a BETWEEN 0 AND 6 FROM t WHERE i = 1' | tr '\n' ' ' | grep -qx 'ok 1 '
	END
    swept --check 'sh ./check.sh' -- sh -c 'for n in 1 2 3; do sqlite3 -bail ~/Documents/db < run.sql || exit 1; done'
}

# Makes a database in the mode $1, and adds 200 rows in transactions of their own with PRAGMA synchronous=$2. Tries at
# most $3 faults.
sweep_transactions() {
    mkdir -p seed/Documents
    sqlite3 seed/Documents/db "PRAGMA journal_mode=$1; CREATE TABLE t(a); CREATE TABLE n(i); INSERT INTO n VALUES(0);" >/dev/null
    { echo "PRAGMA synchronous=$2;"; for _ in $(seq 200); do
        echo "BEGIN; UPDATE n SET i = i + 1; INSERT INTO t SELECT hex(zeroblob(i)) FROM n; COMMIT;"; done; } > run.sql
    cat > check.sh <<-'END'
	n=$(sqlite3 ~/Documents/db 'PRAGMA integrity_check; SELECT i FROM n WHERE i = (SELECT count(*) FROM t)' | tr '\n' ' ')
	case $n in "ok 200 ") ;; "ok "[0-9]*) test "$PURGEFS_COMMAND_STATUS" != 0 ;; *) exit 1 ;; esac
	END
    swept --most "$3" --check 'sh ./check.sh' -- sh -c 'sqlite3 -bail ~/Documents/db < run.sql'
}

purgefs_sqlite_with_a_journal() { sweep_sqlite delete; }
purgefs_sqlite_in_wal_mode() { sweep_sqlite wal; }
purgefs_sqlite_with_a_journal_for_long() { sweep_transactions delete full 200; }
purgefs_sqlite_in_wal_mode_for_long() { sweep_transactions wal full 200; }

purgefs_git_commit() {
    mkdir -p seed/Documents/repo
    (
        cd seed/Documents/repo && git init -q && git config user.email a@example.org && git config user.name a
        echo 1 > f && git add f && git commit -qm one && echo 2 > f && git add f
    )
    # A commit that has failed can be repeated, unless a lock file was left behind.
    cat > check.sh <<-'END'
	cd ~/Documents/repo && git fsck --no-progress || exit 1
	test "$(git log --format=%s | tr '\n' ' ')" = 'two one ' || git commit -qm two
	END
    swept --check 'sh ./check.sh' -- sh -c 'cd ~/Documents/repo && git commit -qm two'
}

# Sweeps a Python program, which the check in CHECK follows.
sweep_python() { swept --check '/usr/bin/python3 -c "$CHECK"' -- /usr/bin/python3 -c "$1"; }

# Sweeps a program that adds one to the number 41 in the file `path`, and saves it with the statements $1.
sweep_json() {
    mkdir -p seed/Documents && echo '{"n": 41}' > seed/Documents/a.json
    export CHECK='import json, os; assert json.load(open(os.environ["HOME"] + "/Documents/a.json"))["n"] in (41, 42)'
    sweep_python "import json, os
path = os.environ['HOME'] + '/Documents/a.json'
value = json.load(open(path))
value['n'] += 1
$1"
}

purgefs_python_json_dump() { sweep_json 'with open(path, "w") as file: json.dump(value, file)'; }

purgefs_python_json_dump_and_replace() {
    sweep_json 'with open(path + ".new", "w") as file: json.dump(value, file); file.flush(); os.fsync(file.fileno())
os.replace(path + ".new", path)'
}

purgefs_python_shelve() {
    mkdir -p seed/Documents
    python3 -c 'import dbm.dumb, shelve; s = shelve.Shelf(dbm.dumb.open("seed/Documents/s")); s["n"] = 41; s.close()'
    export CHECK='import dbm.dumb, os, shelve
assert shelve.Shelf(dbm.dumb.open(os.environ["HOME"] + "/Documents/s", "r"))["n"] in (41, 42)'
    sweep_python 'import dbm.dumb, os, shelve
s = shelve.Shelf(dbm.dumb.open(os.environ["HOME"] + "/Documents/s", "w"))
s["n"] += 1
s.close()'
}

sweep_leveldb() {
    mkdir -p seed/Documents
    /usr/bin/python3 -c 'import plyvel; d = plyvel.DB("seed/Documents/l", create_if_missing=True); d.put(b"n", b"0", sync=True); d.close()'
    export CHECK='import os, plyvel
n = int(plyvel.DB(os.environ["HOME"] + "/Documents/l").get(b"n"))
assert n == 40 or os.environ["PURGEFS_COMMAND_STATUS"] != "0" and 0 <= n < 40, n'
    sweep_python 'import os, plyvel
d = plyvel.DB(os.environ["HOME"] + "/Documents/l")
for n in range(40): d.put(b"n", b"%d" % (n + 1), sync=True)
d.close()'
}

sweep_diskcache() {
    mkdir -p seed/Documents
    /usr/bin/python3 -c 'import diskcache; c = diskcache.Cache("seed/Documents/c"); c["a"] = b"x" * 40_000; c.close()'
    export CHECK='import diskcache, os
c = diskcache.Cache(os.environ["HOME"] + "/Documents/c")
for _ in range(3): c.check(fix=True)  # each removes one level of empty folders
assert not c.check()
assert c.get("a") in (None, b"x" * 40_000, b"y" * 40_000)'
    # The names of its files are random.
    sweep_python 'import diskcache, os
c = diskcache.Cache(os.environ["HOME"] + "/Documents/c")
c["a"] = b"y" * 40_000
c["b"] = 1
c.close()' | sed -E 's#c/[0-9a-f]{2}(/[0-9a-f]{2}(/[0-9a-f]{28}\.val)?)?$#c/NAME#'
}

sweep_ccache() {
    mkdir -p seed/Documents && echo 'int f(void) { return 1; }' > seed/Documents/f.c
    cat > check.sh <<-'END'
	cd ~/Documents && ccache gcc -c f.c -o g.o && nm g.o | grep -q ' T f' && gcc -c f.c -o h.o && cmp g.o h.o
	END
    swept --check 'CCACHE_NOHASHDIR=1 sh ./check.sh' -- sh -c 'cd ~/Documents && CCACHE_NOHASHDIR=1 ccache gcc -c f.c -o f.o'
}

purgefs_leveldb() { sweep_leveldb; }
purgefs_diskcache() { sweep_diskcache; }
purgefs_ccache() { sweep_ccache; }
