#!/bin/sh
# The tests of harness_test.py in shell: fill, purge, no space, lock, and weeks later.
#   harness.sh CONTAINER.SH [NUMBER]     runs the first six NUMBER times
set -eu
# shellcheck source=mount-scripts/container.sh
. "$1"

failed() { echo "failed: $*" >&2; exit 1; }
same() { [ "$1" = "$2" ] || failed "$1 instead of $2"; }
begin() { container_begin --total 64M --others 8M; }

fill_and_no_space() {
    begin
    container_fill 1M
    same "$(container_room)" 1048576
    same "$(container_number important)" 1048576
    head -c 1M /dev/zero >"$CONTAINER/Documents/fits"
    (echo x >"$CONTAINER/Documents/more") 2>/dev/null && failed 'a write without room'
    same "$(container_events --json --type refused | jq -r .path)" Documents/more
    container_fill 2M
    same "$(container_room)" 2097152
    container_end
}

fill_of_caches() {
    begin
    container_fill 8192 Library/Caches
    head -c 8192 /dev/zero >"$CONTAINER/Library/Caches/fits"
    (echo x >"$CONTAINER/Library/Caches/more") 2>/dev/null && failed 'a write without room'
    same "$(container_number opportunistic)" 0
    container_end
}

purge() {
    begin
    head -c 20M /dev/zero >"$CONTAINER/Library/Caches/thumbnail"
    head -c 4096 /dev/zero >"$CONTAINER/tmp/upload"
    head -c 4096 /dev/zero >"$CONTAINER/Documents/photo"
    same "$(container_number reclaimable)" 20975616
    container_purge tmp
    container_expect_purge tmp/upload
    exec 3>"$CONTAINER/tmp/open"
    container_purge 'evenOpen tmp'
    exec 3>&-
    container_set storage.others=+40M
    container_expect_purge Library/Caches/thumbnail
    same "$(ls "$CONTAINER/Library/Caches" "$CONTAINER/tmp")" "$CONTAINER/Library/Caches:

$CONTAINER/tmp:"
    [ -e "$CONTAINER/Documents/photo" ] || failed 'Documents/photo is gone'
    container_why Library/Caches/thumbnail | grep -q purged
    container_end
}

# Each purge satisfies only one call of container_expect_purge.
purge_again() {
    begin
    echo x >"$CONTAINER/Library/Caches/photo"
    container_purge caches
    container_expect_purge Library/Caches/photo
    echo x >"$CONTAINER/Library/Caches/photo"
    position=$(container_position)
    (container_expect_purge Library/Caches/photo true) 2>"$CONTAINER/tmp/said" && failed 'an old purge'
    grep -q 'does not count' "$CONTAINER/tmp/said" || failed "$(cat "$CONTAINER/tmp/said")"
    container_expect_purge "$CONTAINER/Library/Caches/photo" container_purge caches
    container_expect_purge --after "$position" Library/Caches/photo
    same "$(container_events --json --type purge | wc -l)" 2
    same "$(grep -c . "$CONTAINER_FILES/found")" 3
    container_end
}

lock() {
    begin
    echo key >"$CONTAINER/Documents/secret"
    container_mark Documents/secret protection=complete
    container_lock
    cat "$CONTAINER/Documents/secret" 2>/dev/null && failed 'a secret was read'
    container_unlock
    same "$(cat "$CONTAINER/Documents/secret")" key
    echo x >"$CONTAINER/tmp/a"
    container_reboot
    [ ! -e "$CONTAINER/tmp/a" ] || failed 'tmp/a is there after a reboot'
    same "$(cat "$CONTAINER/.purgefs/device.state")" beforeFirstUnlock
    container_end
}

weeks_later() {
    begin
    mkdir "$CONTAINER/Documents/feed"
    container_mark Documents/feed purgeAfter=1w
    head -c 4096 /dev/zero >"$CONTAINER/Documents/feed/old"
    before=$(stat -c %Y "$CONTAINER/Documents/feed/old")
    container_advance 3w
    age=$((before - $(stat -c %Y "$CONTAINER/Documents/feed/old")))
    if [ $age -lt 1814340 ] || [ $age -gt 1814460 ]; then failed "it looks $age seconds older"; fi
    head -c 4096 /dev/zero >"$CONTAINER/Documents/feed/new"
    container_app terminate
    container_app launch
    container_expect_purge Documents/feed/old
    same "$(ls "$CONTAINER/Documents/feed")" new
    container_end
}

faults_and_states() {
    begin
    container_fail 'mkdir#2=EPERM'
    mkdir "$CONTAINER/Documents/a"
    mkdir "$CONTAINER/Documents/b" 2>/dev/null && failed 'no fault'
    container_fail off
    mkdir "$CONTAINER/Documents/b"
    container_app suspend
    same "$(cat "$CONTAINER/.purgefs/app.state")" suspended
    container_end
}

programs_and_mistakes() {
    begin
    container_mark tmp nonsense=1 2>"$CONTAINER/tmp/said" && failed 'a flag of no name'
    grep -q 'refused nonsense=1; names: purgeable' "$CONTAINER/tmp/said" || failed "$(cat "$CONTAINER/tmp/said")"
    container_mark tmp purgeable=low excluded=0 protection=none limit=1G group=1 tombstone=0
    # shellcheck disable=SC2016
    same "$(container_run sh -c 'cd && pwd -P')" "$CONTAINER"
    container_set others=much 2>"$CONTAINER/tmp/said" && failed 'a size of "much"'
    grep -q "'much' is not a size" "$CONTAINER/tmp/said" || failed "$(cat "$CONTAINER/tmp/said")"
    container_fill 1000 2>/dev/null && failed 'a room of 1000'
    container_fill 1x 2>/dev/null && failed 'a room of 1x'
    container_begin 2>/dev/null && failed 'two containers'
    container_end
    container_begin --total much 2>/dev/null && failed 'a device of "much"'
    same "$CONTAINER" ''
    # No container_end here: the container ends with the shell.
    begin
}

for round in $(seq "${2:-1}"); do
    fill_and_no_space
    fill_of_caches
    purge
    purge_again
    lock
    weeks_later
    faults_and_states
done
programs_and_mistakes
echo "$((round * 7)) passed"
