# git with its work tree in Documents or in Library/Caches.

GIT='export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=T GIT_CONFIG_KEY_1=user.email \
    GIT_CONFIG_VALUE_1=t@t GIT_CONFIG_KEY_2=init.defaultBranch GIT_CONFIG_VALUE_2=main GIT_CONFIG_NOSYSTEM=1 \
    GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z
    history() { git init -q "$1" && cd "$1" && for n in 1 2 3; do seed $n 20000 > file$n; git add .; git commit -qm $n; done; }'

both_full() {
    app bash -c "$GIT"'
        cd ~/Documents; history work
        mkdir -p .git/objects/{0..9}{{0..9},{a..f}} .git/objects/{a..f}{{0..9},{a..f}}     # on ext4 each takes a block
        seed 9 300000 > large; fill 65536
        echo "-- a large file, with 64 KiB left"; try git add large; ls .git/*.lock 2>/dev/null
        try git fsck --full; try git status --short
        echo "-- a commit, with 0 bytes left"; rm ../filler; fill 0;
        try git commit -q --allow-empty -m 4; try git log --format=%s -1
        echo "-- room again"; unfill; try git add large; try git commit -q -m 4; try git fsck --full; try git log --format=%s'
}

# A clone that can be fetched again is kept in Library/Caches, and the system purges its oldest objects.
purgefs_purged() {
    app bash -c "$GIT"'
        cd ~/Documents; history origin >/dev/null; cd ~/Library/Caches; git clone -q --no-hardlinks ~/Documents/origin clone
        cd clone; git remote set-url origin ../../../Documents/origin; find . -type f ! -path "*hooks*" | wc -l'
    purgefs purge "$STORE" --bytes 80K >/dev/null
    app bash -c "$GIT"'
        cd ~/Library/Caches/clone; echo "-- 80 KiB were purged"; find . -type f ! -path "*hooks*" | wc -l
        try git status --short; try git fsck --full; try git log --format=%s; try git fetch; try git checkout -q -- .
        echo "-- made anew"; cd ..; rm -rf clone; git clone -q ~/Documents/origin clone; cd clone; try git fsck --full; try git status --short'
}

# A whole work tree in Library/Caches is purged while the app runs.
purgefs_purged_whole() {
    app bash -c "$GIT"'
        cd ~/Library/Caches; history work
        try purgefs purge --all > /dev/null; try git status --short; ls -A'
}

purgefs_weeks_later() {
    app bash -c "$GIT"'
        cd ~/Documents; history work
        git commit -q --amend -m "3, amended"; git reflog expire --expire=now --all
        count() { git fsck --no-reflogs --unreachable 2>/dev/null | wc -l; }
        echo "unreachable: $(count)"; git gc -q; echo "after gc: $(count)"
        purgefs clock advance 3w
        try git status --short; try git update-index --refresh
        git gc -q; echo "after gc, three weeks later: $(count)"; try git fsck --full'
}

purgefs_locked() {
    OPTIONS="--protection complete" app bash -c "$GIT"'
        cd ~/Documents; history work
        purgefs device lock; purgefs clock advance 10s
        try git status --short; try git commit -q --allow-empty -m 4
        purgefs device unlock
        try git status --short; try git fsck --full; try git log --format=%s -1'
}
