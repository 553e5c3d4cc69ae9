# rclone, which copies 6 files of 2 MB from a directory outside the container into Documents.

R='export RCLONE_CONFIG=$HOME/Library/Preferences/rclone.conf RCLONE_RETRIES=2 RCLONE_TRANSFERS=1; touch "$RCLONE_CONFIG"
    source=/dev/shm/purgefs-trial; data() { mkdir -p $source; for n in $(seq $1 $2); do seed $n 2000000 > $source/$n; touch -d "2024-01-0$n" $source/$n; done; }
    said() { grep -o -E -e "no space left on device" -e "preallocate: file too big for remaining disk space" -e "operation not permitted" -e "\(status.*" | sort | uniq -c | sed "s/^ *//"; }'
END='; rm -rf /dev/shm/purgefs-trial'

both_full() {
    app bash -c "$R"'
        data 1 6; mkdir ~/Documents/copy; fill 5242880
        echo "-- 12 MB, with 5 MiB left"; try rclone copy $source ~/Documents/copy 2>&1 | said; stat -c "%n %s" ~/Documents/copy/*
        echo "-- the same without preallocation"; rm ~/Documents/copy/*; try rclone --local-no-preallocate copy $source ~/Documents/copy 2>&1 | said; stat -c "%n %s" ~/Documents/copy/*
        echo "-- room again"; unfill; try rclone copy $source ~/Documents/copy; try rclone check $source ~/Documents/copy 2>&1 | grep -o -E "[0-9]+ differences found|status.*"'"$END"
}

# The copy is a cache: the system purges a part of it, and rclone copies that part again.
purgefs_purged() {
    app bash -c "$R"'
        data 1 6; rclone copy $source ~/Library/Caches/copy; ls ~/Library/Caches/copy | wc -l'
    purgefs purge "$STORE" --bytes 5M | tail -n 1
    app bash -c "$R"'
        ls ~/Library/Caches/copy | wc -l; try rclone check $source ~/Library/Caches/copy 2>&1 | grep -o -E "[0-9]+ differences found|\(status.*"
        echo "-- copied again"; rclone -v copy $source ~/Library/Caches/copy 2>&1 | grep -c ": Copied"; rclone check $source ~/Library/Caches/copy 2>&1 | grep -o "[0-9]* differences found"
        echo "-- the other way: what is missing in the cache is removed from the source"; purgefs purge --bytes 5M | tail -n 1
        rclone sync ~/Library/Caches/copy $source; ls $source | wc -l'"$END"
}

purgefs_weeks_later() {
    app bash -c "$R"'
        data 1 6; rclone copy $source ~/Documents/copy; purgefs clock advance 3w
        echo "-- copied again, three weeks later:"; rclone -v copy $source ~/Documents/copy 2>&1 | grep -E -o -e "Copied \(.*" -e "Updated modification time.*" | sort | uniq -c | sed "s/^ *//"
        echo "-- and once more:"; rclone -v copy $source ~/Documents/copy 2>&1 | grep -E -o -e "Copied \(.*" -e "Updated modification time.*" | sort | uniq -c'"$END"
}

purgefs_locked() {
    OPTIONS="--protection complete" app bash -c "$R"'
        data 1 2; rclone copy $source ~/Documents/copy; purgefs device lock; purgefs clock advance 10s
        export RCLONE_CONFIG=; try rclone copy ~/Documents/copy /dev/shm/purgefs-trial/out 2>&1 | said; ls /dev/shm/purgefs-trial
        purgefs device unlock; try rclone check $source ~/Documents/copy --one-way 2>&1 | grep -o "[0-9]* differences found"'"$END"
}
