# restic with a repository in Documents, its cache in Library/Caches, and 4 MB of data outside the container.

R='export RESTIC_REPOSITORY=$HOME/Documents/repository RESTIC_PASSWORD=x RESTIC_PROGRESS_FPS=0
    data() { mkdir -p /dev/shm/purgefs-trial; for n in $(seq $1 $2); do seed $n 500000 > /dev/shm/purgefs-trial/$n; done; }
    restic() { command restic -q "$@" 2>&1 | sed -E -e "s/[0-9a-f]{64}/ID/g; s/[0-9a-f]{8,}/ID/g; s/ID[^ ]*-tmp-[0-9]+/ID-tmp/g; s/after [0-9.]+m?s/after TIME/; s/[0-9.]+m?s elapsed/TIME elapsed/; s/temp-[0-9]+/temp/g"; return ${PIPESTATUS[0]}; }
    snapshots() { command restic -q --no-lock snapshots --json 2>/dev/null | jq -r length | sed "s/$/ snapshots/"; }'
END='; rm -rf /dev/shm/purgefs-trial'

both_full() {
    app bash -c "$R"'
        export RESTIC_CACHE_DIR="$HOME/Library/Application Support/restic"     # so that filling Documents does not purge it
        data 1 4; try restic init; try restic backup /dev/shm/purgefs-trial; snapshots
        data 5 12; fill 1048576
        echo "-- 4 MB more, with 1 MiB left"; try restic backup /dev/shm/purgefs-trial 2>&1 | sort -u | grep -o -i -E -e "no space left on device" -e "\(status.*" | sort -u; snapshots
        echo "-- look at it, with 0 bytes left"; rm ~/Documents/filler; fill 0
        try restic check 2>&1 | grep -o -E -e "no space left on device" -e "\(status.*" | sort -u
        try restic --no-lock check 2>&1 | grep -o -E -e "no space left on device" -e "no errors were found" -e "\(status.*" | sort -u
        echo "-- room again"; unfill; try restic unlock; try restic check; try restic backup /dev/shm/purgefs-trial; snapshots; try restic check --read-data'"$END"
}

purgefs_purged() {
    app bash -c "$R"'
        data 1 4; try restic init; try restic backup /dev/shm/purgefs-trial; find ~/Library/Caches -type f | wc -l
        try purgefs purge --tier caches | tail -n 1; find ~/Library/Caches -type f | wc -l
        data 5 6; try restic backup /dev/shm/purgefs-trial; snapshots; try restic check'"$END"
    purgefs purge "$STORE" --tier caches | tail -n 1
    app bash -c "$R"'
        try restic check; snapshots; find ~/Library/Caches -type f | sed "s/[0-9a-f]\{64\}/ID/g" | wc -l'
}

purgefs_weeks_later() {
    app bash -c "$R"'
        data 1 2; restic init; restic backup /dev/shm/purgefs-trial; purgefs clock advance 5w
        try restic cache 2>&1 | tail -n 3 | tr -s " " | sed -E "s,[0-9.]+ KiB,SIZE,"; restic cache --cleanup --max-age 30; echo "-- after cleanup:"; ls ~/Library/Caches/restic | grep -c -v CACHEDIR
        try restic check'"$END"
}

purgefs_locked() {
    OPTIONS="--protection complete" app bash -c "$R"'
        data 1 2; restic init; restic backup /dev/shm/purgefs-trial; purgefs device lock; purgefs clock advance 10s
        try restic check 2>&1 | grep -o -E -e "operation not permitted" -e "\(status.*" | sort -u
        purgefs device unlock; try restic check; snapshots'"$END"
}
