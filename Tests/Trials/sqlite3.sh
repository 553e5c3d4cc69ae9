# The shell of SQLite with its database in Documents or in Library/Caches.

rows() {
    echo "WITH RECURSIVE c(i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM c WHERE i < $2)
          INSERT INTO t SELECT i, hex(zeroblob(200)) FROM c;"
}
export -f rows

# Uses a rollback journal with 64 KiB left.
both_full_rollback_journal() {
    app bash -c 'cd ~/Documents
        sqlite3 app.db "CREATE TABLE t(i, v); $(rows 1 1000)"
        fill 65536
        echo "-- 1000 more rows"; try sqlite3 app.db "BEGIN; $(rows 1001 2000) COMMIT;" | grep -v -e WITH -e INSERT
        echo "-- what is there"; sqlite3 app.db "SELECT count(*) FROM t; PRAGMA integrity_check"; ls
        echo "-- delete something to make room, with 0 bytes left"
        rm filler; fill 0
        try sqlite3 app.db "DELETE FROM t WHERE i > 500"
        try sqlite3 app.db "SELECT count(*) FROM t"
        echo "-- room again"; unfill
        try sqlite3 app.db "DELETE FROM t WHERE i > 500; SELECT count(*) FROM t; PRAGMA integrity_check"'
}

both_full_wal() {
    app bash -c 'cd ~/Documents
        sqlite3 app.db "PRAGMA journal_mode=wal; CREATE TABLE t(i, v); $(rows 1 1000)"
        fill 65536
        echo "-- 1000 more rows"; try sqlite3 app.db "BEGIN; $(rows 1001 2000) COMMIT;" | grep -v -e WITH -e INSERT
        echo "-- with 0 bytes left"
        rm filler; fill 0
        try sqlite3 app.db "SELECT count(*) FROM t"
        echo "-- room again"; unfill
        try sqlite3 app.db "SELECT count(*) FROM t; PRAGMA integrity_check"'
}

# A database is a cache. It is purged while a connection is open, and between two runs.
purgefs_purged() {
    app bash -c 'cd ~/Library/Caches
        sqlite3 cache.db "PRAGMA journal_mode=wal; CREATE TABLE t(i, v); $(rows 1 1000)"
        mkfifo ~/go ~/gone
        { echo "SELECT count(*) FROM t;"; cat ~/go >/dev/null; echo "SELECT count(*) FROM t;"; } |
            { sqlite3 cache.db; : > ~/gone; } &
        while [ ! -e cache.db-shm ]; do sleep 0.05; done; sleep 0.5
        echo "-- purged while it is open"; try purgefs purge --tier caches; ls
        : > ~/go; cat ~/gone; wait'
    echo "-- purged between two runs"
    purgefs purge "$STORE" --tier caches
    app bash -c 'cd ~/Library/Caches; try sqlite3 cache.db "SELECT count(*) FROM t"'
}

# The app is killed with a transaction in its log. Then the system purges the database, but not the log.
purgefs_log_without_database() {
    app bash -c 'cd ~/Library/Caches
        sqlite3 cache.db "PRAGMA journal_mode=wal; CREATE TABLE t(i, v); $(rows 1 1000)"
        mkfifo ~/go
        sqlite3 cache.db < ~/go & pid=$!
        exec 9> ~/go; echo "PRAGMA wal_autocheckpoint=0; $(rows 1001 1100)" >&9
        while [ ! -s cache.db-wal ]; do sleep 0.05; done; sleep 0.5
        kill -9 $pid; wait $pid 2>/dev/null; ls'
    echo "-- the database is purged, its log is not"
    purgefs purge "$STORE" --path Library/Caches/cache.db
    app bash -c 'cd ~/Library/Caches; ls
        try sqlite3 cache.db "SELECT count(*) FROM t"; try sqlite3 cache.db "CREATE TABLE t(i, v); SELECT count(*) FROM t; PRAGMA integrity_check"; ls'
}

purgefs_locked() {
    OPTIONS="--protection complete" app bash -c 'cd ~/Documents
        sqlite3 app.db "CREATE TABLE t(i, v); $(rows 1 10)"
        purgefs device lock; purgefs clock advance 10s
        try sqlite3 app.db "SELECT count(*) FROM t"
        try sqlite3 app.db "INSERT INTO t VALUES (11, 11)"
        purgefs device unlock
        try sqlite3 app.db "SELECT count(*) FROM t; PRAGMA integrity_check"'
}
