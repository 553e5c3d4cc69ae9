import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Hints of error messages fit the cause.
    @Suite struct HintTests {
        private static let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"

        /// Runs a script in a mount namespace of its own, with an ordinary user's mount at `point` whose mode is 0. `$P` is the
        /// program, and `$U` runs a command as that user.
        private func said(_ script: String) throws -> Outcome {
            try Scratch.with("hint") { scratch in
                let prepare = """
                    chmod 777 .; mkdir point; chown 65534 point; cp "$P" purgefs; P=$PWD/purgefs; U='\(Self.user)'
                    mknod -m 666 fuse c 10 229; mount --bind fuse /dev/fuse
                    $U $P mount --total 64M store point && $U chmod 0 point || exit 99
                    \(script)
                    status=$?; $U fusermount3 -u point || $U fusermount3 -u -z point
                    # The daemon writes to the store until it releases its lock.
                    [ ! -d store ] || flock -w 30 store true; exit $status
                    """
                return try PurgefsBinary.shell(prepare, in: scratch.path, inNamespace: true)
            }
        }

        /// The owner is kept out by the mode, not because the container belongs to another user.
        @Test func anOwnClosedContainer() throws {
            let outcome = try said("$U $P status point")
            #expect(outcome.status == 1 && outcome.errors.contains("belongs to you"), "\(outcome)")
            #expect(outcome.errors.contains("chmod u+rwX") && !outcome.errors.contains("as that user"), "\(outcome)")
        }

        /// Not even root can enter a user's FUSE mount, so the message does not advise running as root.
        @Test(arguments: ["$P mount new point/x", "$P mount point/new empty"]) func rootInAUsersMount(command: String)
            throws
        {
            let outcome = try said("mkdir empty; \(command)")
            #expect(outcome.status == 1 && !outcome.errors.contains("or as root"), "\(outcome)")
            #expect(
                outcome.errors.contains("user 65534") || outcome.errors.contains("inside the container mounted"),
                "\(outcome)")
        }

        @Test func rootAsksAUsersMount() throws {
            let outcome = try said("$P status point")
            #expect(outcome.status == 1 && outcome.errors.contains("run this as user 65534"), "\(outcome)")
        }

        /// The message names the directory that keeps the user out, with its owner and mode.
        @Test func aFileOfAnotherUser() throws {
            let outcome = try said(
                "mkdir closed; echo x > closed/f; chmod 700 closed; $U $P mark --purgeable closed/f")
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.errors.contains("./closed belongs to root, with mode 700: run this as root."), "\(outcome)")
        }

        @Test func aMountPointThatIsNotUTF8() throws {
            try Scratch.with("hint") { scratch in
                let script = #"""
                    odd=$(printf 'caf\351'); mkdir "$odd" "$odd/point"; $P mount new "$odd/point"; echo "status $?"
                    cd "$odd" && $P mount ../new point; echo "status $?"; ls ..
                    """#
                let outcome = try PurgefsBinary.shell(script, in: scratch.path)
                #expect(
                    outcome.output.hasPrefix("status 1\nstatus 1\n") && !outcome.output.contains("new"), "\(outcome)")
                let said = outcome.errors.split(separator: "\n").filter { $0.hasSuffix("is not UTF-8") }
                #expect(said.count == 2, "\(outcome)")
                #expect(outcome.errors.contains("rename the file or folder (mv)"), "\(outcome)")
            }
        }

        @Test func othersLeaveNothing() throws {
            try withMount(["--total", "64M", "--others", "64M"]) { mount in
                mount.expectWarnings()
                #expect(mount.log.contains("--others 64.0 MiB leaves nothing of --total 64.0 MiB"), "\(mount.log)")
            }
        }

        /// The message says that the store of the mount is gone.
        @Test func aStoreThatWasRemoved() throws {
            try withMount { mount in
                mount.expectWarnings()
                try Program.run("mv", mount.store, "\(mount.store).moved").succeeded()
                let outcome = try PurgefsBinary.run("events", mount.root)
                #expect(outcome.status == 1 && outcome.errors.contains("removed, moved or hidden"), "\(outcome)")
                #expect(outcome.errors.contains("purgefs unmount \(mount.root)"), "\(outcome)")
                try Program.run("mv", "\(mount.store).moved", mount.store).succeeded()
                try PurgefsBinary.run("events", mount.root).succeeded()
            }
        }

        /// A command does not mistake the journal, settings and lock of another store for the container's own.
        @Test func anotherStoreInItsPlace() throws {
            try withMount(mounted: false) { mount in
                let (other, moved) = ("\(mount.store).other", "\(mount.store).moved")
                try PurgefsBinary.run("mount", "--total", "64M", other, mount.root).succeeded()
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                try PurgefsBinary.run("mount", "--total", "64M", mount.store, mount.root).succeeded()
                try Program.shell("mv \(mount.store) \(moved) && mv \(other) \(mount.store)", in: "/").succeeded()
                let reason = "another store has replaced the one mounted at \(mount.root)"
                for words in [
                    ["events", mount.root], ["why", mount.path("Documents")], ["diagnose", mount.root],
                    ["report", mount.root, "--output", "\(mount.scratch)/page"],
                    ["backup", "create", mount.root, "--output", "\(mount.scratch)/backup"],
                ] {
                    let outcome = try Program.run([PurgefsBinary.path] + words)
                    #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(outcome)")
                }
                let status = try PurgefsBinary.run("status", mount.root)
                #expect(status.status == 0 && status.errors.contains(reason), "\(status)")
                #expect(
                    try PurgefsBinary.run("status", mount.store).succeeded().contains("mounted at        nowhere"))
                // `unmount` finds the daemon by the store that it holds, and reports the settings that it could not save.
                try Files.makeDirectory("\(moved)/device.json.new")
                #expect(throws: Errno.ioError) { try mount.write("1M", to: "storage.others") }
                let told = try PurgefsBinary.run("unmount", mount.root)
                #expect(told.status == 1 && told.errors.contains("are not saved (others)"), "\(told)")
            }
        }

        /// Commands that need the removed store fail with the reason, and so does `unmount`, which still unmounts. `status`
        /// only warns.
        @Test func aStoreThatIsRemovedForGood() throws {
            try withMount(mounted: false) { mount in
                try PurgefsBinary.run("mount", "--total", "64M", mount.store, mount.root).succeeded()
                try Program.run("rm", "-r", mount.store).succeeded()
                for words in [["status"], ["status", "--json"]] {
                    let outcome = try Program.run([PurgefsBinary.path] + words + [mount.root])
                    #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(outcome)")
                    #expect(outcome.errors.contains("warning: \(mount.store): the store was removed"), "\(outcome)")
                }
                for words in [
                    ["set", mount.root, "others=1M"], ["device", "lock", mount.root],
                    ["report", "--output", "-", mount.root],
                ] {
                    let outcome = try Program.run([PurgefsBinary.path] + words)
                    #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
                    #expect(
                        outcome.errors.contains(": \(mount.store): the store was removed")
                            && outcome.errors.contains("purgefs unmount \(mount.root)"), "\(outcome)")
                }
                let outcome = try PurgefsBinary.run("unmount", mount.root)
                #expect(outcome.status == 1, "\(outcome)")
                #expect(outcome.errors.contains("the store was removed while it was mounted"), "\(outcome)")
                #expect(MountTable.entry(at: mount.root) == nil)
            }
        }

        @Test func aContainerThatIsRemoved() throws {
            try withMount(mounted: false) { mount in
                try PurgefsBinary.run("mount", "--total", "64M", mount.store, mount.root).succeeded()
                try Program.run("rm", "-r", "\(mount.store)/container").succeeded()
                let outcome = try PurgefsBinary.run("unmount", mount.root)
                #expect(outcome.status == 1, "\(outcome)")
                #expect(
                    outcome.errors.contains("the store's container/ was removed while it was mounted"), "\(outcome)")
            }
        }

        /// Each command says that the daemon is stopped, and how to continue it. The commands run at the same time, because
        /// each waits.
        @Test func aDaemonThatWasStopped() throws {
            try withMount(by: .device) { mount in
                let daemon = try #require(mount.daemon)
                let elsewhere = "\(mount.scratch)/elsewhere"
                try Files.makeDirectory(elsewhere)
                daemon.signal(SIGSTOP)
                defer { daemon.signal(SIGCONT) }
                let asking = try [
                    ["status", mount.root], ["events", mount.root], ["set", mount.root, "others=1M"],
                    ["status", mount.store], ["why", mount.path("Documents/x")], ["purge", "--all", mount.root],
                    ["diagnose", mount.root], ["mount", mount.store, mount.root],
                    ["mount", mount.path("Documents/x"), elsewhere],
                ].map { try Program.start([PurgefsBinary.path] + $0) }
                for program in asking {
                    #expect(try program.wait(within: 60) == 1, "\(program.errors)")
                    #expect(
                        program.errors.contains("its daemon, process \(daemon.pid), is stopped")
                            && program.errors.contains("kill -CONT \(daemon.pid)"), "\(program.errors)")
                }
            }
        }
    }
}
