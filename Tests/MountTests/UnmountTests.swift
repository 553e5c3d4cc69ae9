import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// `purgefs unmount` of mounts whose daemon is dead or does not answer, or that have copies elsewhere.
    @Suite struct UnmountTests {
        /// Mounts in the background, and passes `body` the process id of the daemon. Afterwards expects the end of the
        /// mount and of the daemon.
        private func withDaemon(_ body: (TestMount, pid_t) throws -> Void) throws {
            try withMount(deadline: 120, mounted: false) { mount in
                try PurgefsBinary.run("mount", "--total", "64M", mount.store, mount.root).succeeded()
                let pids = try Files.names(in: "/proc").compactMap { pid_t($0) }
                let daemon = try #require(
                    pids.first { Files.commandLine(of: "\($0)").hasSuffix(" \(mount.store) \(mount.root)") })
                try body(mount, daemon)
                #expect(MountTable.entry(at: mount.root) == nil)
                try eventually("the end of the daemon") { !Files.exists("/proc/\(daemon)") }
                try mount.mount()
                try mount.unmount()
            }
        }

        @Test func ofADeadDaemonThatIsInUse() throws {
            try withDaemon { mount, daemon in
                let user = try Program.start(["sleep", "1000"], in: mount.path("tmp"))
                try eventually("the program") { Files.text("/proc/\(user.pid)/comm") == "sleep\n" }
                kill(daemon, SIGKILL)
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                user.signal(SIGKILL)
                try user.wait(within: 10)
            }
        }

        /// A program that has the store open is not mistaken for the daemon, even if its command line looks like the daemon's.
        @Test(arguments: [["unmount"], ["unmount", "--force"]]) func aProgramThatHasTheStoreOpen(words: [String]) throws
        {
            try withDaemon { mount, _ in
                let program = "import os, time; os.open('\(mount.store)', 0); print(1, flush=True); time.sleep(1000)"
                let user = try Program.start([Program.python, "-c", "\(program) # it has mount --foreground in it"])
                try eventually("the program") { user.output == "1\n" }
                try Program.run([PurgefsBinary.path] + words + [mount.root]).succeeded()
                #expect(Files.exists("/proc/\(user.pid)/exe"))
                user.signal(SIGKILL)
                #expect(try user.wait(within: 10) == 128 + SIGKILL)
            }
        }

        /// `unmount` ends the calls that wait for a daemon that is gone but whose connection remains, as when one of its
        /// threads cannot be killed.
        @Test func ofADeadDaemonWhoseConnectionLives() throws {
            try withDaemon { mount, daemon in
                let holder = try Program.start([Program.python, "-c", Self.holder, "\(daemon)"])
                try eventually("a second owner of /dev/fuse") { holder.output == "ready\n" }
                kill(daemon, SIGKILL)
                try eventually("its end") { !Files.exists("/proc/\(daemon)") }
                let user = try Program.start(["ls", mount.path("tmp/none")])
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                #expect(try user.wait(within: 10) != 0)
                holder.signal(SIGKILL)
                try holder.wait(within: 10)
            }
        }

        /// Each daemon is found by its store, even after the stores have exchanged places.
        @Test func ofStoresThatHaveChangedPlaces() throws {
            try withDaemon { mount, _ in
                let (other, root) = ("\(mount.store).other", "\(mount.scratch)/other")
                try Files.makeDirectory(root)
                try PurgefsBinary.run("mount", "--total", "64M", other, root).succeeded()
                defer { _ = try? Program.run("umount", "-l", root) }
                let user = try Program.start(["sleep", "1000"], in: mount.path("tmp"))
                defer { user.signal(SIGKILL) }
                try eventually("the program") { Files.text("/proc/\(user.pid)/comm") == "sleep\n" }
                for (from, to) in [(mount.store, "\(other).2"), (other, mount.store), ("\(other).2", other)] {
                    try Program.run("mv", from, to).succeeded()
                }
                try PurgefsBinary.run("unmount", "--force", mount.root).succeeded()
                #expect(Files.exists("\(root)/.purgefs/status.json"))
                try PurgefsBinary.run("unmount", root).succeeded()
            }
        }

        /// `unmount` reports the settings that could not be saved. A save creates device.json.new first, so a directory of that
        /// name makes it fail even for root.
        @Test func whatCouldNotBeSaved() throws {
            try withDaemon { mount, _ in
                try Files.makeDirectory("\(mount.store)/device.json.new")
                #expect(throws: Errno.ioError) { try mount.write("1M", to: "storage.others") }
                let told = try PurgefsBinary.run("unmount", mount.root)
                #expect(told.status == 1, "\(told)")
                #expect(
                    told.errors == """
                        purgefs: unmounted: \(mount.store): the store is incomplete: \
                        the settings of this mount are not saved (others)
                          The settings cannot be saved: Is a directory. If the disk under it is full, make room there.

                        """)
                try Files.removeDirectory("\(mount.store)/device.json.new")
            }
        }

        @Test func ofADaemonThatDoesNotAnswer() throws {
            try withDaemon { mount, daemon in
                let user = try Program.start(["sleep", "1000"], in: mount.path("tmp"))
                try eventually("the program") { Files.text("/proc/\(user.pid)/comm") == "sleep\n" }
                kill(daemon, SIGSTOP)
                let refused = try PurgefsBinary.run("unmount", mount.root)
                #expect(refused.status == 1 && refused.errors.contains("process \(daemon)"), "\(refused)")
                #expect(refused.errors.contains("purgefs unmount --force"), "\(refused)")
                try PurgefsBinary.run("unmount", mount.root, "--force").succeeded()
                user.signal(SIGKILL)
                try user.wait(within: 10)
            }
        }

        /// A copy of the mount in another mount namespace is reported, and --force ends the daemon nevertheless.
        @Test func whatAnotherNamespaceKeeps() throws {
            try withDaemon { mount, daemon in
                let keeper = try Program.start(["unshare", "--mount", "--propagation", "private", "sleep", "1000"])
                try eventually("the copy") { Files.text("/proc/\(keeper.pid)/comm") == "sleep\n" }
                defer { keeper.signal(SIGKILL) }
                for what in ["unmounted, but not everywhere", "cannot unmount"] {
                    let refused = try PurgefsBinary.run("unmount", mount.root)
                    #expect(
                        refused.status == 1 && refused.errors.hasPrefix("purgefs: \(what): \(mount.root)"), "\(refused)"
                    )
                    #expect(refused.errors.contains("process \(keeper.pid) (sleep 1000)"), "\(refused)")
                    #expect(refused.errors.contains("(process \(daemon)) still has the store"), "\(refused)")
                    #expect(refused.errors.contains("purgefs unmount --force \(mount.root)\n"), "\(refused)")
                }
                for words in [["check", mount.store], ["mount", mount.store, mount.root]] {
                    let refused = try Program.run([PurgefsBinary.path] + words)
                    let start = "purgefs: cannot \(words[0]): \(mount.store): another mount namespace"
                    #expect(refused.status == 1 && refused.errors.hasPrefix(start), "\(refused)")
                    #expect(refused.errors.contains("process \(keeper.pid) (sleep 1000)"), "\(refused)")
                    #expect(refused.errors.contains("purgefs unmount --force \(mount.root)\n"), "\(refused)")
                }
                #expect(Files.exists("/proc/\(daemon)"))
                try PurgefsBinary.run("unmount", "--force", mount.root).succeeded()
                // The store is free although the copy still exists.
                try mount.mount()
                try mount.unmount()
            }
        }

        /// umount(8) returns while the daemon still writes to the store, here on a frozen file system. The daemon marks
        /// that it is ending, and the next mount waits for it.
        @Test func aMountWaitsForADaemonThatStillWrites() throws {
            try Scratch.with("frozen") { scratch in
                let (disk, store, root) = ("\(scratch.path)/fs", "\(scratch.path)/fs/store", "\(scratch.path)/mount")
                try Program.shell(
                    "mkdir fs mount; truncate -s 32M image; mkfs.ext4 -q -F image; mount -o loop image fs",
                    in: scratch.path
                ).succeeded()
                defer { _ = try? Program.run("umount", "-l", disk) }
                try PurgefsBinary.run("mount", "--total", "8M", store, root).succeeded()
                let next = try frozen(disk) {
                    let pids = try Files.names(in: "/proc").compactMap { pid_t($0) }
                    let daemon = try #require(
                        pids.first { Files.commandLine(of: "\($0)").hasSuffix(" \(store) \(root)") })
                    try Program.run("umount", root).succeeded()
                    try eventually("the mark") {
                        Files.open(in: "\(daemon)").contains("/memfd:purgefs-ending (deleted)")
                    }
                    return try Program.start([PurgefsBinary.path, "mount", store, root])
                }
                #expect(try next.wait(within: 60) == 0, "\(next.errors)")
                try PurgefsBinary.run("unmount", root).succeeded()
            }
        }

        private func frozen<Value>(_ disk: String, _ body: () throws -> Value) throws -> Value {
            try Program.run("fsfreeze", "--freeze", disk).succeeded()
            let result = Result { try body() }
            try Program.run("fsfreeze", "--unfreeze", disk).succeeded()
            return try result.get()
        }

        /// --force ends a mount that has a copy in use in another namespace, even if the mount's daemon does not react.
        @Test func whatAnotherNamespaceKeepsByForce() throws {
            try withDaemon { mount, daemon in
                let keeper = try Program.start(
                    ["unshare", "--mount", "--propagation", "private", "sleep", "1000"], in: mount.path("tmp"))
                try eventually("the copy") { Files.text("/proc/\(keeper.pid)/comm") == "sleep\n" }
                defer { keeper.signal(SIGKILL) }
                kill(daemon, SIGSTOP)
                try PurgefsBinary.run("unmount", "--force", mount.root).succeeded()
            }
        }

        /// A container that another process has mounted here in its own mount namespace is not ours to unmount.
        @Test func whatIsMountedThereInAnotherNamespace() throws {
            try withMount(mounted: false) { mount in
                let script = "\"$0\" mount --total 64M \(mount.store) \(mount.root) && echo ready && sleep 1000"
                let other = try Program.start(
                    ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, PurgefsBinary.path])
                defer { other.signalGroup(SIGKILL) }
                try eventually("its mount") { other.output == "ready\n" }
                let refused = try PurgefsBinary.run("unmount", "--force", mount.root)
                #expect(refused.status == 1 && refused.errors.contains("no container is mounted there"), "\(refused)")
                let table = Files.text("/proc/\(other.pid)/mounts")
                #expect(table.contains("\(mount.root) fuse.purgefs"))
                try Program.run(
                    "nsenter", "--mount=/proc/\(other.pid)/ns/mnt", PurgefsBinary.path, "unmount", mount.root
                )
                .succeeded()
                other.signalGroup(SIGKILL)
                try other.wait(within: 10)
            }
        }

        /// With --force, a daemon that reacts shuts down in order, and programs that use the mount get errors.
        @Test func byForceOfOneInUse() throws {
            try withDaemon { mount, _ in
                let file = try Program.start(
                    [
                        "python3", "-c",
                        "import os,time\nf=open('f','wb',0)\nwhile True: f.write(b'x'); time.sleep(0.001)",
                    ],
                    in: mount.path("Documents"))
                try eventually("the program") { (try? Files.size(mount.path("Documents/f"))) ?? 0 > 0 }
                try PurgefsBinary.run("unmount", "--force", mount.root).succeeded()
                #expect(try file.wait(within: 10) == 1)
                #expect(file.errors.contains("OSError") || file.errors.contains("ConnectionAbortedError"))
            }
        }

        /// Duplicates the daemon's descriptor of /dev/fuse by pidfd_getfd(2), and holds it.
        private static let holder = """
            import ctypes, os, sys, time
            pid = int(sys.argv[1])
            fuse = next(int(fd) for fd in os.listdir(f"/proc/{pid}/fd") if os.readlink(f"/proc/{pid}/fd/{fd}") == "/dev/fuse")
            assert ctypes.CDLL(None).syscall(438, os.pidfd_open(pid), fuse, 0) >= 0
            print("ready", flush=True)
            time.sleep(1000)
            """
    }
}
