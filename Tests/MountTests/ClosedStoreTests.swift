import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Stores of an ordinary user with entries whose modes keep out even their owner, and a store with a `.purgefs` of its own.
    @Suite struct ClosedStoreTests {
        /// Runs a script as an ordinary user who may mount, in that user's own directory.
        func asUser(_ script: String) throws -> Outcome {
            try Scratch.with("user") { scratch in
                let home = "\(scratch.path)/home"
                try Files.write(script, to: "\(scratch.path)/script")
                for name in [home, "\(home)/mountpoint"] {
                    try Files.makeDirectory(name)
                    #expect(chown(name, 65534, 65534) == 0)
                }
                try Program.run("cp", PurgefsBinary.path, "\(home)/purgefs").succeeded()
                let outer = "mknod -m 666 ../fuse c 10 229; mount --bind ../fuse /dev/fuse; exec \"$@\""
                let command =
                    ["unshare", "-m", "--propagation", "private", "sh", "-ec", outer, "sh"]
                    + DeviceFileTests.ordinaryUser
                    + ["env", "TMPDIR=\(home)", "HOME=\(home)", "sh", "-e", "\(scratch.path)/script"]
                let outcome = try Program.run(command, in: home, timeout: 60)
                _ = try? Program.run("chmod", "-R", "u+rwx", home)
                return outcome
            }
        }

        private static let mounted = """
            end() { cd ..; ./purgefs unmount mountpoint || fusermount3 -uz mountpoint; }
            ./purgefs mount --total 1M store mountpoint
            trap end EXIT
            cd mountpoint
            echo off > .purgefs/storage.thresholds

            """

        @Test func aFolderThatMayNotBeWrittenTo() throws {
            let outcome = try asUser(
                Self.mounted + """
                    mkdir -p tmp/d/e
                    head -c 300000 /dev/zero > tmp/d/e/old
                    head -c 300000 /dev/zero > tmp/new
                    chmod 555 tmp/d/e; chmod 0 tmp/d
                    head -c 600000 /dev/zero > Documents/f
                    ls tmp; stat -c %a tmp/d; chmod 755 tmp/d; stat -c %a tmp/d/e; ls tmp/d/e
                    """)
            #expect(outcome.status == 0 && outcome.output == "d\nnew\n0\n555\n", "\(outcome)")
        }

        @Test func entriesWithoutAnyPermission() throws {
            let outcome = try asUser(
                """
                ./purgefs mount --total 1M store mountpoint
                mkdir mountpoint/Documents/d mountpoint/Documents/d/e
                head -c 5000 /dev/zero > mountpoint/Documents/f
                head -c 5000 /dev/zero > mountpoint/Documents/d/e/g
                truncate -s 100000 mountpoint/Documents/f
                setfattr -n user.purgefs.isPurgeable -v high mountpoint/Documents/d/e/g
                chmod 0 mountpoint/Documents/f mountpoint/Documents/d/e/g mountpoint/Documents/d/e mountpoint/Documents/d
                ./purgefs unmount mountpoint

                """ + Self.mounted + """
                    cat .purgefs/storage.used .purgefs/storage.reclaimable
                    stat -c %a Documents/f Documents/d
                    chmod 700 Documents/d; stat -c %a Documents/d/e; chmod 700 Documents/d/e; stat -c %a Documents/d/e/g
                    """)
            #expect(outcome.status == 0 && outcome.output == "16384\n8192\n0\n0\n0\n0\n", "\(outcome)")
        }

        /// The owner of an entry may set its times whatever its mode, even times that only an attribute can keep. Setting an
        /// attribute needs permission to write.
        @Test func timesOfWhatHasNoPermission() throws {
            let outcome = try asUser(
                Self.mounted + """
                    mkdir Documents/d; echo x > Documents/f; mkfifo Documents/p; chmod 0 Documents/*
                    echo +21d > .purgefs/device.clock
                    time=$(($(date +%s) - 432000))
                    cd ..; touch -d @$time mountpoint/Documents/*
                    chmod 0 mountpoint; touch -d @$time mountpoint
                    stat -c '%n %a' mountpoint; chmod 755 mountpoint
                    for name in d f; do setfattr -n user.x -v 1 mountpoint/Documents/$name 2> /dev/null && exit 3; done
                    for round in 1 2; do
                        for name in Documents/d Documents/f .; do
                            test $(stat -c %Y mountpoint/$name) = $time || exit 4
                        done
                        stat -c '%n %a' mountpoint/Documents/*
                        ./purgefs unmount mountpoint; ./purgefs mount store mountpoint
                    done
                    cd mountpoint
                    """)
            let modes = "mountpoint/Documents/d 0\nmountpoint/Documents/f 0\nmountpoint/Documents/p 0\n"
            #expect(outcome.status == 0 && outcome.output == "mountpoint 0\n" + modes + modes, "\(outcome)")
        }

        /// A mount works, and leaves all modes unchanged, even if the app has made its container or `Library` inaccessible.
        @Test func aContainerThatItsAppHasClosed() throws {
            let outcome = try asUser(
                """
                ./purgefs mount store mountpoint
                head -c 5000 /dev/zero > mountpoint/Library/Caches/f
                rmdir mountpoint/tmp mountpoint/Library/Preferences; chmod 555 mountpoint/Library; chmod 0 mountpoint
                ./purgefs unmount mountpoint
                for mode in 0 555 311; do
                    chmod $mode store/container
                    ./purgefs mount store mountpoint
                    stat -c %a mountpoint; chmod 755 mountpoint; cat mountpoint/.purgefs/storage.used
                    ./purgefs unmount mountpoint
                done
                chmod 755 store/container; chmod 0 store/container/Library
                ./purgefs mount store mountpoint; ./purgefs unmount mountpoint
                ./purgefs check store && exit 1; ./purgefs check --repair store; stat -c %a store/container/Library

                """)
            #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.prefix(6) == ["0", "8192", "555", "8192", "311", "8192"] && lines.last == "0", "\(outcome)")
        }

        /// Read-only commands change no permissions. They continue past unreadable entries and name them.
        @Test func lookingAtWhatIsClosed() throws {
            let outcome = try asUser(
                """
                ./purgefs mount store mountpoint
                cd mountpoint/Documents
                mkdir closed unlisted open
                for f in closed/a unlisted/b open/c open/hidden; do head -c 5000 /dev/zero > $f; done
                setfattr -n user.purgefs.isPurgeable -v low open/hidden
                chmod 0 closed open/hidden; chmod 400 unlisted
                cd ../..; ./purgefs unmount mountpoint
                list() { find store -printf '%p %m %s %T@ %C@\n' 2>/dev/null | sort; }
                list > before
                ./purgefs status --json store > status 2> status.errors
                ./purgefs purge --all --dry-run store > plan 2> plan.errors
                ./purgefs check store > check && exit 1
                list | diff before - || exit 2
                grep '"used"' status; grep -c 'warning: store/container/Documents/.* cannot be read' status.errors plan.errors
                sed -n 's/: the .* cannot be read;.*//p' check | sort; tail -n 1 check
                ./purgefs check --repair store
                """)
            let expected = """
                    "used": 16384,
                status.errors:3
                plan.errors:3
                store/container/Documents/closed
                store/container/Documents/open/hidden
                store/container/Documents/unlisted
                store: 3 problems
                store: good; 4 files, 32.0 KiB in use

                """
            #expect(outcome.status == 0 && outcome.output == expected, "\(outcome)")
        }

        /// Cases of UnmountTests for an ordinary user: `--force` on a busy mount, and a mount whose daemon was killed.
        @Test func anOrdinaryUsersMountIsTakenAway() throws {
            let outcome = try asUser(
                """
                gone() { if grep -F "$HOME" /proc/self/mountinfo; then exit 3; fi; kill $user; wait $user || true; }
                use() { ./purgefs mount store mountpoint; cd mountpoint; sleep 100 & user=$!; cd ..; }
                use; ./purgefs unmount --force mountpoint; gone
                use; ./purgefs mount --foreground store2 mountpoint 2> /dev/null && exit 4
                for fd in /proc/[0-9]*/fd/*; do
                    if [ "$(readlink $fd)" = "$HOME/store" ]; then daemon=${fd#/proc/}; fi
                done 2> /dev/null
                kill -9 ${daemon%%/*}; ./purgefs unmount mountpoint; gone
                ./purgefs mount store mountpoint; ./purgefs unmount mountpoint; ./purgefs check store
                """)
            #expect(outcome.status == 0 && outcome.output.contains("store: good"), "\(outcome)")
        }

        @Test func theControlDirectorysNameInTheStore() throws {
            try withMount(mounted: false) { mount in
                try mount.mount()
                try mount.unmount()
                try Files.makeDirectory("\(mount.store)/container/.purgefs")
                try Files.make("\(mount.store)/container/.purgefs/f", size: 5000)
                try mount.mount()
                #expect(!(try Files.names(in: mount.root).contains(".purgefs")))
                #expect(try mount.number("storage.used") == 0)
                #expect(throws: Errno.notPermitted) { try Files.changeMode(mount.path(".purgefs"), 0o755) }
                #expect(throws: Errno.notPermitted) { try Files.changeMode(mount.control("storage.total"), 0o666) }
                try Files.truncate(mount.control("storage.total"), 0)
            }
        }
    }
}
