# shellcheck shell=sh
# A container of purgefs for a test in POSIX sh or bats: `. container.sh`, then for each test
#
#   container_begin --total 64M       # options of `purgefs run`; sets CONTAINER, its path
#   container_fill 0                  # leaves no room for Documents
#   container_end
#
# The functions use the control files of the mount (docs/CONTROL.md of purgefs), extended attributes and verbs of purgefs. On
# failure they print a message and return 1, so that a test with `set -e` ends there.
# The container belongs to a `purgefs run` that ends when the last process closes its pipe, which is descriptor 9 of this
# shell. So the container is unmounted and removed even if the shell is killed. One shell has one container at a time; tests
# in several shells may run at once. PURGEFS names the binary; by default it is in PATH. docs/HARNESSES.md has examples.

CONTAINER=
CONTAINER_RUN=
CONTAINER_FILES=
CONTAINER_FROM=

container_say() { printf 'container.sh: %s\n' "$*" >&2; }

# zsh differs in several ways: for example, it ends the container with the function that made it.
if [ -n "${ZSH_VERSION-}" ]; then
    container_say 'zsh is not supported: run the test with sh, dash or bash'
    return 1
fi

# Without a container, its paths would be paths of the machine.
container_is_there() {
    [ -n "$CONTAINER" ] || { container_say 'there is no container: container_begin first'; return 1; }
}

# container_begin [OPTION...]: makes a fresh container, and sets CONTAINER.
container_begin() {
    if [ -n "$CONTAINER_RUN" ]; then
        container_say 'there is a container already: container_end first'
        return 1
    fi
    CONTAINER_FILES=$(mktemp -d "${TMPDIR:-/tmp}/purgefs-sh.XXXXXX") || return 1
    CONTAINER_FROM=$PWD
    mkfifo "$CONTAINER_FILES/hold" || { rmdir "$CONTAINER_FILES"; return 1; }
    exec 9<>"$CONTAINER_FILES/hold"
    # bats waits until its descriptor 3 is closed. A line on the pipe ends the container too, because processes that the test
    # started may keep the pipe open. $PURGEFS_MOUNT is for the inner shell.
    # shellcheck disable=SC2016
    "${PURGEFS:-purgefs}" run --quiet --signals off "$@" -- sh -c 'printf "%s\n" "$PURGEFS_MOUNT" > "$1" || exit; read -r end || :' \
        sh "$CONTAINER_FILES/path" <"$CONTAINER_FILES/hold" >/dev/null 2>"$CONTAINER_FILES/messages" 3>&- 9>&- &
    CONTAINER_RUN=$!
    # bats has its own trap, and calls `teardown`; a script may have one too. dash does not show its traps to a subshell.
    trap >"$CONTAINER_FILES/traps"
    if [ -z "${BATS_TEST_FILENAME-}" ] && ! grep -q ' EXIT$' "$CONTAINER_FILES/traps"; then
        trap container_end EXIT
        trap 'exit 129' HUP
        trap 'exit 130' INT
        trap 'exit 143' TERM
    fi
    until [ -s "$CONTAINER_FILES/path" ]; do
        if ! kill -0 "$CONTAINER_RUN" 2>/dev/null; then
            container_say "no container: $(cat "$CONTAINER_FILES/messages")"
            container_end >/dev/null 2>&1
            return 1
        fi
        sleep 0.01
    done
    CONTAINER=$(cat "$CONTAINER_FILES/path")
    : >"$CONTAINER_FILES/found"
    container_first=$(container_position) # an existing store has older purges
}

# container_end: unmounts the container, and removes its store if that is temporary.
container_end() {
    [ -n "$CONTAINER_RUN" ] || return 0
    # A test that has changed into the container must not keep it in use.
    case $(pwd -P)/ in "$CONTAINER"/*) cd "$CONTAINER_FROM" || : ;; esac
    container_is_gone=
    [ -z "$CONTAINER" ] || timeout 5 cat "$CONTAINER/.purgefs/status.json" >/dev/null 2>&1 || container_is_gone=$?
    kill -CONT "$CONTAINER_RUN" 2>/dev/null || : # in case it was stopped
    { echo end >&9; } 2>/dev/null || : # closed if a signal interrupted the first attempt
    exec 9>&-
    container_status=0
    wait "$CONTAINER_RUN" || container_status=$?
    container_messages=$(cat "$CONTAINER_FILES/messages" 2>/dev/null)
    rm -rf "$CONTAINER_FILES"
    # A container that does not answer in time (124) still exists, and `purgefs run` reports it.
    case $container_is_gone in
        '' | 124) ;;
        *) [ "$container_status" != 0 ] || container_status=1
           container_say "the container was gone before its end, because its daemon was killed or it was unmounted: $CONTAINER" ;;
    esac
    CONTAINER='' CONTAINER_RUN='' CONTAINER_FILES=''
    [ -z "$container_messages" ] || container_say "$container_messages"
    # Other messages, for example that others leave no room, may be what the test wants.
    case $container_messages in *'still in use'*) return 1 ;; esac
    [ "$container_status" = 0 ]
}

# container_run COMMAND [ARG...]: runs a program with the variables that point it into the container, as `purgefs run` sets
# them.
container_run() {
    container_is_there || return 1
    env HOME="$CONTAINER" CFFIXED_USER_HOME="$CONTAINER" TMPDIR="$CONTAINER/tmp" \
        XDG_CACHE_HOME="$CONTAINER/Library/Caches" XDG_DATA_HOME="$CONTAINER/Library/Application Support" \
        XDG_CONFIG_HOME="$CONTAINER/Library/Preferences" PURGEFS_MOUNT="$CONTAINER" "$@" 9>&-
}

# container_write FILE COMMAND: sends one command to a control file.
container_write() {
    container_is_there || return 1
    if ! printf '%s\n' "$2" 2>/dev/null >"$CONTAINER/.purgefs/$1"; then
        container_say "$1 has refused $2"
        return 1
    fi
}

# container_set NAME=VALUE...: changes the device: total=1G others=+10M others.purgeable=1M thresholds=off profile=device ...
container_set() {
    container_is_there || return 1
    "${PURGEFS:-purgefs}" set "$CONTAINER" "$@" >&2 || return 1
}

# container_number NAME: prints available, important, opportunistic, used, reclaimable, total, others or pressure.
container_number() { container_is_there && cat "$CONTAINER/.purgefs/storage.$1"; }

# container_room [PLACE]: prints how many bytes a write at PLACE (Documents) may take now.
container_room() {
    container_is_there || return 1
    container_blocks=$(stat -f -c '%a %S' "$CONTAINER/${1:-Documents}") || return 1
    echo $((${container_blocks% *} * ${container_blocks#* }))
}

# container_fill LEAVING [PLACE]: makes the other apps of the device leave exactly LEAVING bytes (4096, 64K, 1M, 1G) to a
# write at PLACE (Documents). It returns when the purging that it causes is done.
container_fill() {
    container_wanted=$(container_bytes "$1") || return 1
    container_tries=10
    while [ $((container_tries -= 1)) -gt 0 ]; do
        container_left=$(container_room "${2:-Documents}") || return 1
        [ "$container_left" != "$container_wanted" ] || return 0
        if [ "$container_left" -lt "$container_wanted" ]; then
            # The room is never negative, so it may hide an excess.
            container_set "others=$(container_number others.purgeable)" || return 1
            container_left=$(container_room "${2:-Documents}") || return 1
        fi
        if [ "$container_left" -lt "$container_wanted" ]; then
            container_say "cannot leave $1 free: an empty device has only $container_left bytes"
            return 1
        fi
        container_set "others=$(($(container_number others) + container_left - container_wanted))" || return 1
    done
    container_say "cannot leave $1 free: is something else writing?"
    return 1
}

container_bytes() {
    case $1 in
        0?* | *[!0-9]?* | '' | [!0-9]*) set -- x ;;
        *K) set -- $((${1%K} << 10)) ;;
        *M) set -- $((${1%M} << 20)) ;;
        *G) set -- $((${1%G} << 30)) ;;
        *[!0-9]) set -- x ;;
    esac
    if [ "$1" = x ] || [ $(($1 % 4096)) != 0 ]; then
        container_say 'the room to leave is a multiple of 4096: 8192, 64K, 1M, 1G'
        return 1
    fi
    echo "$1"
}

# container_purge SIZE|tmp|caches|purgeable|all: purges, and returns 1 if a size could not be reached. 'evenOpen tmp' takes open
# files too, and so for caches and purgeable.
container_purge() { container_write storage.reclaim "$1"; }

# container_lock: locks the device, and lets the ten seconds pass in which protected files stay readable.
container_lock() {
    container_write device.state lock || return 1
    [ "$(cat "$CONTAINER/.purgefs/device.state")" != locking ] || container_advance 10s
}

container_unlock() { container_write device.state unlock; }
container_reboot() { container_write device.state reboot; }

# container_advance DURATION: advances the device's clock by 30s, 5m, 2h, 3d or 1w, so that all files look that much older.
container_advance() { container_write device.clock "+${1#+}"; }

# container_app CHANGE: changes the state of the app: launch, background, suspend, terminate, update, delete, offload, install.
container_app() { container_write app.state "$1"; }

# container_app_process PID: makes a process the app. It is stopped, continued and killed, with its descendants, as the state says.
container_app_process() { container_write app.process "$1"; }

# container_fail RULE: sets a rule of a fault, such as 'write@Documents/*#3=ENOSPC' (docs/FAULTS.md); `off` removes all.
container_fail() { container_write faults "$1"; }

# container_mark PATH NAME=VALUE...: sets flags: purgeable=low excluded=1 protection=complete, and on a folder after=1w
# limit=10M group=1 tombstone=1; also by the names of the attributes, such as isPurgeable.
container_mark() {
    container_is_there || return 1
    container_marked=$1
    shift
    for container_setting in "$@"; do
        container_flag=${container_setting%%=*}
        case $container_flag in
            purgeable) container_flag=isPurgeable ;;
            excluded) container_flag=isExcludedFromBackup ;;
            protection) container_flag=fileProtection ;;
            after) container_flag=purgeAfter ;;
            limit) container_flag=sizeLimit ;;
            group) container_flag=purgeGroup ;;
            tombstone) container_flag=purgeTombstone ;;
        esac
        setfattr -n "user.purgefs.$container_flag" -v "${container_setting#*=}" "$CONTAINER/$container_marked" && continue
        container_say "$container_marked has refused $container_setting; names: purgeable, excluded, protection," \
            'and on a folder after, limit, group, tombstone (values: docs/XATTRS.md)'
        return 1
    done
}

# container_events [OPTION...]: prints the events; takes the options of `purgefs events`.
container_events() { container_is_there && "${PURGEFS:-purgefs}" events "$CONTAINER" "$@"; }

# container_position: prints the number of the newest event.
container_position() {
    container_is_there || return 1
    container_newest=$(container_journal --all --tail 1) || return 1
    echo "$container_newest" | container_numbers
}

# Prints events as JSON. The time limit is for a stopped daemon, which would never answer.
container_journal() {
    container_journal_status=0
    timeout 20 "${PURGEFS:-purgefs}" events "$CONTAINER" --json "$@" || container_journal_status=$?
    [ "$container_journal_status" != 124 ] ||
        container_say "the daemon of the container does not answer (was it stopped?): $CONTAINER"
    return "$container_journal_status"
}

# Prints the numbers of events in JSON.
container_numbers() { sed -n 's/^{"seq":\([0-9]*\),.*/\1/p'; }

# container_expect_purge [--after POSITION] PATH [COMMAND...]: waits up to ten seconds until the file is purged. A purge
# counts if it came after the purge of this path that an earlier call found, or after POSITION. With COMMAND, which is run
# first, it counts if it came after the start of COMMAND.
container_expect_purge() {
    container_is_there || return 1
    container_after=
    if [ "$1" = --after ]; then
        case $2 in '' | *[!0-9]*) container_say "'$2' is not a position: container_position prints one"; return 1 ;; esac
        container_after=$2
        shift 2
    fi
    if [ $# -gt 1 ]; then
        container_after=$(container_position) || return 1
        set -- "$container_after" "$@"
        container_perform "$@" || return 1
        container_after=$1 # COMMAND may have waited for another purge
        shift
    fi
    container_name=${1#"$CONTAINER"/}
    container_glob=$(printf '%s\n' "$container_name" | sed 's/[][*?\\]/\\&/g')
    : "${container_after:=$(container_found "$container_name")}"
    container_tries=100
    container_newest=
    while :; do
        if ! container_told=$(container_journal --type purge --path "$container_glob" --tail 1 2>&1); then
            container_say "cannot tell whether $container_name was purged: ${container_told#container.sh: }"
            return 1
        fi
        container_told=$(printf '%s\n' "$container_told" | container_numbers)
        container_newest=${container_told:-$container_newest}
        [ "${container_newest:-0}" -le "$container_after" ] || break
        if [ "$(timeout 5 cat "$CONTAINER/.purgefs/journal.size" 2>/dev/null)" = 0 ]; then
            container_say "cannot tell whether $container_name was purged: the journal is off (journal.size=0)"
            return 1
        fi
        if [ $((container_tries -= 1)) = 0 ]; then
            [ -z "$container_newest" ] || container_newest=" Its last purge, event $container_newest, does not count: it is \
not after event $container_after."
            container_say "$container_name was not purged.$container_newest $(container_why "$container_name")"
            return 1
        fi
        sleep 0.1
    done
    echo "$container_newest $(printf %s "$container_name" | cksum)" >>"$CONTAINER_FILES/found"
}

container_perform() { shift 2; "$@"; }

# Prints the newest purge of a path that container_expect_purge has found, or 0.
container_found() {
    awk -v key="$(printf %s "$1" | cksum)" -v newest="${container_first:-0}" '
        $2 " " $3 == key { newest = $1 } END { print newest }' "$CONTAINER_FILES/found"
}

# container_why PATH: prints the answer of `purgefs why` about a file.
container_why() { container_is_there && "${PURGEFS:-purgefs}" why "$CONTAINER/$1" 2>&1; }

# container_report FILE.html: writes the page of `purgefs report`.
container_report() { container_is_there && "${PURGEFS:-purgefs}" report "$CONTAINER" --output "$1"; }
