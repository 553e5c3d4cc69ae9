# Headless Chromium with its profile in Library/Preferences (XDG_CONFIG_HOME) and its cache in Library/Caches, and a
# page that counts in localStorage how often it was shown. TMPDIR is outside the container, because the container's path
# is too long for Chromium's socket. About one page in thirty shows 1 although it was shown before, on ext4 too, so
# `again` tries up to three times where another number is expected.

B='cat > /dev/shm/purgefs-trial.html <<END
<p id=p></p><script>var n; try { n = 1 + Number(localStorage.n || 0); localStorage.n = n } catch (e) { n = e.name } p.textContent = "shown: " + n</script>
END
    page() { TMPDIR=/dev/shm timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="${PROFILE-$HOME/Library/Preferences/chromium}" --disk-cache-dir="$HOME/Library/Caches/chromium" --virtual-time-budget=3000 \
        --dump-dom file:///dev/shm/purgefs-trial.html 2>/dev/null | grep -o "shown: [A-Za-z0-9]\+"; echo "(status ${PIPESTATUS[0]})"; }
    again() { local said n; for n in 1 2 3; do said=$(page); case $said in "shown: 1"*) ;; *) break ;; esac; done; echo "$said"; }'
END='; rm -f /dev/shm/purgefs-trial.html'

purgefs_socket() {
    app bash -c 'chromium --headless --no-sandbox --dump-dom about:blank 2>&1 | grep -o "Socket path too long"; echo "(status ${PIPESTATUS[0]})"'
}

both_full() {
    app bash -c "$B"'
        page; again; fill 0; echo "-- 0 bytes left"; again; again; echo "-- room again"; unfill; again; again'"$END"
}

purgefs_purged() {
    app bash -c "$B"'
        page; purgefs purge --tier caches | tail -n 1 | grep -c purged; again'"$END"
    purgefs purge "$STORE" --all > /dev/null
    app bash -c "$B"'
        again'"$END"
    echo "-- the profile in Library/Caches"
    app bash -c "$B"'
        PROFILE=~/Library/Caches/profile; page; again; purgefs purge --tier caches > /dev/null; page'"$END"
}

purgefs_weeks_later_and_locked() {
    OPTIONS="--protection complete" app bash -c "$B"'
        page; purgefs clock advance 3w; again
        purgefs device lock; purgefs clock advance 10s; echo "-- locked"; again; purgefs device unlock; again'"$END"
}
