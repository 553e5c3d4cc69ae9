# ccache with its cache in XDG_CACHE_HOME, and a program of 40 C files that is built in Documents.

PROGRAM='export CCACHE_NOHASHDIR=1; cd ~/Documents
    sources() { mkdir -p src; for n in $(seq 40); do { echo "int f$n(void) {"; for k in $(seq 60); do echo "puts(\"$n $k\");"; done
        echo "return $n; }"; } | sed "1i int puts(const char *);" > src/$n.c; done; }
    build() { mkdir -p out; local failed=0; for n in $(seq 40); do ccache gcc -c src/$n.c -o out/$n.o || failed=$((failed + 1)); done
        echo "objects: $(ls out | wc -l), failed: $failed"; rm -r out
        ccache --print-stats | grep -E "^(direct_cache_hit|cache_miss|cache_size_kibibyte|files_in_cache|internal_error)" | tr "\t\n" "= "; echo "really=$(find "${CCACHE_DIR:-$XDG_CACHE_HOME/ccache}" -name "*[RM]" | wc -l)"; ccache -z >/dev/null; }'

purgefs_purged() {
    app bash -c "$PROGRAM"'
        sources; echo "-- first"; build; echo "-- again"; build
        echo "-- everything purged while the app runs"; purgefs purge --all | tail -n 1; build; build'
    echo "-- a part purged between two runs"; purgefs purge "$STORE" --bytes 160K | tail -n 1
    app bash -c "$PROGRAM"'; build; build'
}

# The device has less free space than the reserve of 10 %: Documents can be written, and tmp and Library/Caches cannot.
purgefs_low_storage() {
    app bash -c "$PROGRAM"'
        sources; echo "-- first"; build
        purgefs set storage.thresholds=verylow=5%,low=100%,nearlow=100%,desired=100% > /dev/null; sleep 1
        stat -f -c "%a blocks for Library/Caches" ~/Library/Caches
        try ccache gcc -c src/1.c -o 1.o; echo "-- with TMPDIR in Documents"; export TMPDIR=~/Documents; build; build; ls -A ~/Documents'
}

# Nothing can be written. The cache is in a place where filling Documents does not purge it.
both_full() {
    app bash -c "$PROGRAM"'
        export CCACHE_DIR="$HOME/Library/Application Support/ccache"
        sources; cp src/1.c other.c; sed -i s/f1/other/ other.c; build; fill 0
        echo "-- a hit"; TMPDIR=/dev/shm try ccache gcc -c src/1.c -o /dev/shm/purgefs-trial.o; rm -f /dev/shm/purgefs-trial.o
        echo "-- a miss"; TMPDIR=/dev/shm try ccache gcc -c other.c -o /dev/shm/purgefs-trial.o; ls /dev/shm/purgefs-trial.o
        rm -f /dev/shm/purgefs-trial.o
        echo "-- a hit whose object file has no room"; TMPDIR=/dev/shm try ccache gcc -c src/1.c -o ~/Documents/1.o; stat -c "%n %s" ~/Documents/1.o
        echo "-- room again"; unfill; ccache -z > /dev/null; build'
}

purgefs_weeks_later() {
    app bash -c "$PROGRAM"'
        sources; build; purgefs clock advance 3w
        echo "-- three weeks later, half of it is used"; for n in $(seq 20); do ccache gcc -c src/$n.c -o /dev/null; done; ccache -z > /dev/null
        ccache --evict-older-than 14d > /dev/null; echo "-- after --evict-older-than 14d"; build'
}

purgefs_locked() {
    OPTIONS="--protection complete" app bash -c "$PROGRAM"'
        sources; build >/dev/null; cp src/1.c /dev/shm/purgefs-trial.c
        purgefs device lock; purgefs clock advance 10s
        try ccache gcc -c /dev/shm/purgefs-trial.c -o /dev/shm/purgefs-trial.o; ls /dev/shm/purgefs-trial.o
        rm -f /dev/shm/purgefs-trial.*; purgefs device unlock; build'
}
