# diskcache with a cache of 40 values of 100,000 bytes in Library/Caches: an SQLite database with files beside it.

C="/usr/bin/python3 -B $HERE/values.py"

# The cache is in a place where filling Documents does not purge it.
both_full() {
    WHERE='Library/Application Support' app bash -c "$C 'small'; fill 491520; $C fill look small; echo '-- room again'; unfill; $C look fill look check look"
}

purgefs_purged_meanwhile() {
    app $C fill look 'purgefs purge --tier caches | tail -n 1' look small fill look
}

# Purging takes the least recently used files one by one: the values, then the database.
purgefs_purged_between_runs() {
    app $C fill look
    purgefs purge "$STORE" --bytes 2M | tail -n 1
    app $C look check look
}

purgefs_database_purged() {
    app $C fill look
    purgefs purge "$STORE" --path 'Library/Caches/cache/cache.db' | tail -n 1
    app $C look fill look check look
}

purgefs_purged_as_one() {
    app bash -c "mkdir ~/Library/Caches/cache; setfattr -n user.purgefs.purgeGroup -v 1 ~/Library/Caches/cache; $C fill look"
    purgefs purge "$STORE" --bytes 2M | tail -n 1
    app $C look fill look
}

purgefs_weeks_later() {
    app $C expiring fill 'purgefs clock advance 3w' expired look
}

purgefs_locked() {
    OPTIONS="--protection complete" app $C fill 'purgefs device lock; purgefs clock advance 10s' look
    app bash -c "purgefs device lock; purgefs clock advance 10s; $C look; purgefs device unlock; $C look"
}
