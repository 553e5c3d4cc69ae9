# Programs that lose power at each of their calls (purgefs sweep --moments power). The checks of SQLite, git and
# LevelDB know from PURGEFS_COMMAND_STATUS whether the program has reported success; then all of its work must be
# there. The other checks also accept the old state.

# shellcheck source=Tests/Trials/sweep.sh
. "$HERE/sweep.sh"

purgefs_sqlite_with_a_journal() { FAULTS=power sweep_transactions delete full 100; }
purgefs_sqlite_with_a_journal_extra() { FAULTS=power sweep_transactions delete extra 100; }
purgefs_sqlite_in_wal_mode() { FAULTS=power sweep_transactions wal full 100; }

# $1: options of git
sweep_git_power() {
    mkdir -p seed/Documents/repo
    export GIT_AUTHOR_DATE='2026-11-28T12:00:00Z' GIT_COMMITTER_DATE='2026-11-28T12:00:00Z'
    (
        cd seed/Documents/repo && git init -q && git config user.email a@example.org && git config user.name a
        echo 1 > f && git add f && git commit -qm one && echo 2 > f
    )
    cat > check.sh <<-'END'
	cd ~/Documents/repo && git fsck --no-progress && case $(git log --format=%s | tr '\n' ' ') in
	"two one ") ;; "one ") test "$PURGEFS_COMMAND_STATUS" != 0 ;; *) exit 1 ;; esac
	END
    FAULTS=power swept --check 'sh ./check.sh' -- sh -c "cd ~/Documents/repo && git $1 commit -qam two"
}

purgefs_git_commit() { sweep_git_power ''; }
purgefs_git_commit_fsync_all() { sweep_git_power '-c core.fsync=all'; }

purgefs_leveldb() { FAULTS=power sweep_leveldb; }
purgefs_json_dump() { FAULTS=power purgefs_python_json_dump; }
purgefs_json_dump_and_replace() { FAULTS=power purgefs_python_json_dump_and_replace; }
purgefs_shelve() { FAULTS=power purgefs_python_shelve; }
purgefs_diskcache() { FAULTS=power sweep_diskcache; }
purgefs_ccache() { FAULTS=power sweep_ccache; }
