# Functions for scenarios. A command runs as `app COMMAND...`, where HOME is the container or the ext4.

# Runs a command in a container whose store stays until the scenario ends, or with the same variables on the ext4.
app() {
    if [ "$PLACE" = purgefs ]; then
        # shellcheck disable=SC2086
        timeout 120 purgefs run --quiet --store "$STORE" --total "$TOTAL" ${OPTIONS-} -- "$@"
    else
        env HOME="$SCRATCH/disk" TMPDIR="$SCRATCH/disk/tmp" XDG_CACHE_HOME="$SCRATCH/disk/Library/Caches" \
            XDG_DATA_HOME="$SCRATCH/disk/Library/Application Support" \
            XDG_CONFIG_HOME="$SCRATCH/disk/Library/Preferences" timeout 120 "$@"
    fi
}

# Prints a command, its output, and its exit status unless that is 0. For commands inside `app`.
try() {
    echo "\$ $*"
    "$@"
    local status=$?
    [ $status -eq 0 ] || echo "(status $status)"
    return 0
}

# fill BYTES: makes a file in Documents, so that just BYTES more can be written to Documents. It writes the last part,
# because ext4 needs extra blocks for a file that is allocated as a whole.
fill() {
    local free
    free=$(($(stat -f -c '%a * %S' ~/Documents)))
    fallocate -l $((free - $1 - 1048576)) ~/Documents/filler
    free=$(($(stat -f -c '%a * %S' ~/Documents)))
    head -c $((free - $1)) /dev/zero 2>/dev/null >> ~/Documents/filler
}
unfill() { rm ~/Documents/filler; }

# seed N BYTES: prints incompressible bytes, the same in each run.
seed() { openssl enc -aes-128-ctr -K "$(printf '%032x' "$1")" -iv 00000000000000000000000000000000 -in /dev/zero 2>/dev/null | head -c "$2"; }

export -f try fill unfill seed
