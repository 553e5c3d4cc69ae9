# Programs that lose power at each of their calls (purgefs sweep --moments power). The checks of SQLite, git and
# LevelDB know from PURGEFS_COMMAND_STATUS whether the program has reported success; then all of its work must be
# there. The other checks also accept the old state.

# shellcheck source=Tests/Trials/sweep.sh
. "$HERE/sweep.sh"

# Makes a database in the mode $1, and adds 200 rows in transactions of their own with PRAGMA synchronous=$2.
sweep_sqlite_power() {
    mkdir -p seed/Documents
    sqlite3 seed/Documents/db "PRAGMA journal_mode=$1; CREATE TABLE t(a); CREATE TABLE n(i); INSERT INTO n VALUES(0);" >/dev/null
    { echo "PRAGMA synchronous=$2;"; for _ in $(seq 200); do
        echo "BEGIN; UPDATE n SET i = i + 1; INSERT INTO t SELECT hex(zeroblob(i)) FROM n; COMMIT;"; done; } > run.sql
    cat > check.sh <<-'END'
	n=$(sqlite3 ~/Documents/db 'PRAGMA integrity_check; SELECT i FROM n WHERE i = (SELECT count(*) FROM t)' | tr '\n' ' ')
	case $n in "ok 200 ") ;; "ok "[0-9]*) test "$PURGEFS_COMMAND_STATUS" != 0 ;; *) exit 1 ;; esac
	END
    FAULTS=power swept --most 100 --check 'sh ./check.sh' -- sh -c 'sqlite3 -bail ~/Documents/db < run.sql'
}

purgefs_sqlite_with_a_journal() { sweep_sqlite_power delete full; }
purgefs_sqlite_with_a_journal_extra() { sweep_sqlite_power delete extra; }
purgefs_sqlite_in_wal_mode() { sweep_sqlite_power wal full; }

# $1: options of git
sweep_git_power() {
    mkdir -p seed/Documents/repo
    export GIT_AUTHOR_DATE='2026-11-28T12:00:00Z' GIT_COMMITTER_DATE='2026-11-28T12:00:00Z'
    (
        cd seed/Documents/repo && git init -q && git config user.email a@example.org && git config user.name a
        echo 1 > f && git add f && git commit -qm one && echo 2 > f
    )
    cat > check.sh <<-'END'
	cd ~/Documents/repo && git fsck --no-progress && case $(git log --format=%s | tr '\n' ' ') in
	"two one ") ;; "one ") test "$PURGEFS_COMMAND_STATUS" != 0 ;; *) exit 1 ;; esac
	END
    FAULTS=power swept --check 'sh ./check.sh' -- sh -c "cd ~/Documents/repo && git $1 commit -qam two"
}

purgefs_git_commit() { sweep_git_power ''; }
purgefs_git_commit_fsync_all() { sweep_git_power '-c core.fsync=all'; }

purgefs_leveldb() {
    mkdir -p seed/Documents
    /usr/bin/python3 -c 'import plyvel; d = plyvel.DB("seed/Documents/l", create_if_missing=True); d.put(b"n", b"0", sync=True); d.close()'
    export CHECK='import os, plyvel
n = int(plyvel.DB(os.environ["HOME"] + "/Documents/l").get(b"n"))
assert n == 40 or os.environ["PURGEFS_COMMAND_STATUS"] != "0" and 0 <= n < 40, n'
    FAULTS=power sweep_python 'import os, plyvel
d = plyvel.DB(os.environ["HOME"] + "/Documents/l")
for n in range(40): d.put(b"n", b"%d" % (n + 1), sync=True)
d.close()'
}

purgefs_json_dump() { FAULTS=power purgefs_python_json_dump; }
purgefs_json_dump_and_replace() { FAULTS=power purgefs_python_json_dump_and_replace; }
purgefs_shelve() { FAULTS=power purgefs_python_shelve; }

purgefs_diskcache() {
    mkdir -p seed/Documents
    /usr/bin/python3 -c 'import diskcache; c = diskcache.Cache("seed/Documents/c"); c["a"] = b"x" * 40_000; c.close()'
    export CHECK='import diskcache, os
c = diskcache.Cache(os.environ["HOME"] + "/Documents/c")
assert not c.check(fix=True) or not c.check()
assert c.get("a") in (None, b"x" * 40_000, b"y" * 40_000)'
    # The names of its files are random.
    FAULTS=power sweep_python 'import diskcache, os
c = diskcache.Cache(os.environ["HOME"] + "/Documents/c")
c["a"] = b"y" * 40_000
c["b"] = 1
c.close()' | sed -E 's#c/[0-9a-f]{2}(/[0-9a-f]{2}(/[0-9a-f]{28}\.val)?)?$#c/NAME#'
}

purgefs_ccache() {
    mkdir -p seed/Documents && echo 'int f(void) { return 1; }' > seed/Documents/f.c
    cat > check.sh <<-'END'
	cd ~/Documents && ccache gcc -c f.c -o g.o && nm g.o | grep -q ' T f' && gcc -c f.c -o h.o && cmp g.o h.o
	END
    FAULTS=power swept --check 'CCACHE_NOHASHDIR=1 sh ./check.sh' -- sh -c 'cd ~/Documents && CCACHE_NOHASHDIR=1 ccache gcc -c f.c -o f.o'
}
