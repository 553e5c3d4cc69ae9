# Programs that lock a database in a folder shared by several apps, when they are suspended (0xdead10cc).

# Runs a program that is suspended after a second, and continued a second later.
suspended() {
    purgefs run --total 64M --shared "$IN/group" --events "$IN/events" --at 1s app.state=suspend \
        --at 2s app.state=launch -- "$@" 2>&1 | sed -E 's/process [0-9]+/process N/'
    echo "status ${PIPESTATUS[0]}"
}

# Feeds lines to a program, and keeps its input open until it has been continued; then feeds the line $1.
lines() { cat; sleep 3; echo "$1"; }

purgefs_sqlite_in_a_transaction() {
    mkdir group
    lines .quit <<-'END' | suspended sqlite3 group/db
	PRAGMA journal_mode=wal; CREATE TABLE t(i);
	BEGIN IMMEDIATE; INSERT INTO t VALUES(1);
	END
    sqlite3 group/db 'SELECT count(*) FROM t; PRAGMA integrity_check'
}

purgefs_sqlite_after_a_transaction() {
    mkdir group
    lines 'SELECT count(*) FROM t;' <<-'END' | suspended sqlite3 group/db
	PRAGMA journal_mode=wal; CREATE TABLE t(i);
	BEGIN IMMEDIATE; INSERT INTO t VALUES(1); COMMIT;
	END
}

# Makes a database. The process that does so keeps a lock until it ends.
make_tdb() {
    mkdir group
    echo "create group/x.tdb" | tdbtool >/dev/null
}

purgefs_tdb_in_a_transaction() {
    make_tdb
    lines quit <<-'END' | suspended tdbtool
	open group/x.tdb
	transaction_start
	insert a 1
	END
}

purgefs_tdb_after_a_transaction() {
    make_tdb
    lines keys <<-'END' | suspended tdbtool
	open group/x.tdb
	transaction_start
	insert a 1
	transaction_commit
	END
}

purgefs_gdbm_open() {
    mkdir group
    lines quit <<-'END' | suspended gdbmtool -q
	open group/x.gdbm
	store a 1
	END
}

purgefs_gdbm_closed() {
    mkdir group
    lines quit <<-'END' | suspended gdbmtool -q
	open group/x.gdbm
	store a 1
	close
	END
}
