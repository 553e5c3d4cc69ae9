# Debian roots, and namespaces to work in, for distro-test and package-test. A script reads this file with `.`, and the
# script's name begins each message.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$@"; exit 1; }

# Runs this script again with "$@", as the first process of new namespaces. When that ends or is killed, the kernel ends all
# other processes in the namespaces and removes their mounts. INSIDE names the variable that marks the second run.
isolate() {
    [ "$(id -u)" -eq 0 ] || die "needs root, for debootstrap and mounts: sudo env \"PATH=\$PATH\" make ${0##*/}"
    # A background job would ignore Ctrl-C, and could not change that itself.
    env --default-signal=INT,QUIT "$INSIDE=yes" setpriv --pdeathsig KILL \
        unshare --mount --pid --fork --kill-child --mount-proc --propagation slave -- "$0" "$@" &
    local child=$!
    trap 'kill -KILL $child 2>/dev/null; exit 130' INT
    trap 'kill -KILL $child 2>/dev/null; exit 143' TERM HUP
    wait $child
}

# Prints the mirror from which apt fetches Debian, if this is Debian; otherwise debootstrap uses its default.
mirror() {
    if [ -n "${DEBIAN_MIRROR-}" ]; then
        echo "$DEBIAN_MIRROR"
    elif command -v apt-get >/dev/null; then
        # shellcheck disable=SC2016  # apt's variables, not the shell's
        apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)' 2>/dev/null |
            awk '$1 == "Debian" && $2 == "main" && $3 !~ /-/ { print $4; exit }'
    fi
}

# Takes over apt's proxy setting, for debootstrap and for apt in the root.
take_proxy() {
    local proxy=
    command -v apt-config >/dev/null && eval "$(apt-config shell proxy Acquire::http::Proxy)"
    if [ -n "$proxy" ] && [ "$proxy" != DIRECT ] && [ -z "${http_proxy-}" ]; then export http_proxy=$proxy; fi
}

# Makes a root of Debian SUITE in ROOT with the packages INCLUDE (separated by commas, may be empty). It puts MARK there once
# the root is complete.
make_root() {
    local suite=$1 root=$2 include=$3 mark=$4
    local new=$root.new log=$root.log
    say "making a root of Debian $suite in $root, once"
    mkdir -p "$(dirname "$root")" && rm -rf --one-file-system "$new" && mkdir "$new" || exit 1
    # shellcheck disable=SC2046  # no word if there is no mirror
    if ! debootstrap --variant=minbase ${include:+--include="$include"} "$suite" "$new" $(mirror) \
        >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        rm -rf --one-file-system "$new"
        die "debootstrap failed; its last words are above, all of them in $log"
    fi
    # Usually made by an installer; fusermount3 needs it.
    [ -e "$new/etc/mtab" ] || ln -s ../proc/self/mounts "$new/etc/mtab"
    rm -f "$log"
    touch "$new/$mark" && mv "$new" "$root" || exit 1
}
