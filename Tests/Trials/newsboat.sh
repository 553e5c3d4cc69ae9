# newsboat with its database in Library/Application Support (XDG_DATA_HOME), and a feed of 200 articles from a local
# file.

FEED='mkdir -p ~/Library/Preferences/newsboat ~/Library/Application\ Support/newsboat
    feed() { { echo "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>"
        for n in $(seq $1 $2); do echo "<item><title>Item $n</title><guid>$n</guid><link>http://localhost/$n</link><description>$(seed $n 6000 | base64 -w0)</description><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item>"; done
        echo "</channel></rss>"; } > /dev/shm/purgefs-trial.xml; }
    echo "file:///dev/shm/purgefs-trial.xml" > ~/Library/Preferences/newsboat/urls
    db=~/Library/Application\ Support/newsboat/cache.db
    items() { sqlite3 "$db" "SELECT count(*) || \" articles\" FROM rss_item; PRAGMA integrity_check"; }'

both_full() {
    app bash -c "$FEED"'
        feed 1 100; try newsboat -x reload; items
        fill 65536; feed 1 200; try newsboat -x reload; items
        echo "-- read state, with 0 bytes left"; rm ~/Documents/filler; fill 0
        try newsboat -x print-unread; items
        echo "-- room again"; unfill; try newsboat -x reload; items; rm -f /dev/shm/purgefs-trial.xml'
}

# The user has moved the database to a place where it can be purged.
purgefs_purged() {
    app bash -c "$FEED"'
        feed 1 100; mkdir ~/Library/Caches/newsboat; A="-u $HOME/Library/Preferences/newsboat/urls -c $HOME/Library/Caches/newsboat/cache.db"
        try newsboat $A -x reload 2>&1 | sed "s/-u.*-x/... -x/"; try newsboat $A -x print-unread 2>&1 | sed "s/-u.*-x/... -x/"
        purgefs purge --tier caches; try newsboat $A -x print-unread 2>&1 | sed "s/-u.*-x/... -x/"; rm -f /dev/shm/purgefs-trial.xml'
}

purgefs_locked() {
    OPTIONS="--protection complete" app bash -c "$FEED"'
        feed 1 100; newsboat -x reload; items
        purgefs device lock; purgefs clock advance 10s
        try newsboat -x reload; try newsboat -x print-unread
        purgefs device unlock; try newsboat -x print-unread; items; rm -f /dev/shm/purgefs-trial.xml'
}

purgefs_weeks_later() {
    app bash -c "$FEED"'
        echo "keep-articles-days 7" > ~/Library/Preferences/newsboat/config
        feed 1 20; sed -i "s/Mon, 01 Jan 2024 00:00:00 GMT/$(LC_ALL=C date -uR)/" /dev/shm/purgefs-trial.xml
        newsboat -x reload; items; purgefs clock advance 3w; newsboat -x reload; items; try newsboat -x print-unread; rm -f /dev/shm/purgefs-trial.xml'
}
