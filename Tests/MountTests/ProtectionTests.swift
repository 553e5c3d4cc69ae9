import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Data protection on a real mount (docs/PROTECTION.md).
    @Suite struct ProtectionTests {
        private static func program(_ name: String) -> String {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Programs/\(name).py")
                .path
        }

        /// Makes every call on every class in every state, as root and as an ordinary user. The program has the table
        /// of expected results. Pages are cached and mapped before the device changes its state, and large files are
        /// passed through.
        @Test func everyCall() throws {
            try withMount(["--total", "1G", "--allow-other"], deadline: 200) { mount in
                let outcome = try Program.run([Program.python, Self.program("protection"), mount.root], timeout: 180)
                let calls = try #require(Int(outcome.output.split(separator: "\n").last ?? ""))
                #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
                // 5 classes, 5 states, 2 users.
                #expect(calls >= 50 * 80 && calls.isMultiple(of: 50))
            }
        }

        /// Once the command that locks has returned, processes read and write no protected data until the unlock, even
        /// with calls in flight.
        @Test func lockingUnderLoad() throws {
            try withMount(["--total", "1G"], deadline: 200) { mount in
                let outcome = try Program.run(
                    [Program.python, Self.program("protection_storm"), mount.root, "\(Scale.of(60))"], timeout: 180)
                #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
                let words = outcome.output.split(separator: " ")
                #expect(words.count == 4 && (Int(words[1]) ?? 0) > 100)
                let refused = try #require(Int(words[3].dropLast()))
                #expect(refused > 100)
                // A read(2) may become several requests, each of which is refused.
                #expect(try mount.status().counters.protectionDenied >= 100)
            }
        }

        /// Unmodified SQLite behaves as docs/PROTECTION.md says.
        @Test func database() throws {
            try withMount(["--total", "1G"], deadline: 120) { mount in
                let outcome = try Program.run(
                    [Program.python, Self.program("protection_sqlite"), mount.root], timeout: 110)
                #expect(try outcome.succeeded() == Self.observed)
            }
        }

        private static let observed = """
            complete wal commit: SIGBUS, -; ok 1000
            complete wal rollback: SIGBUS, -; ok 1000
            complete wal select: ok, ok; ok 1000
            complete wal select elsewhere: SIGBUS, -; ok 1000
            complete wal open: SQLITE_CANTOPEN, ok; ok 1000
            complete wal new database: SQLITE_CANTOPEN, ok; ok 1000
            complete wal-exclusive commit: SQLITE_IOERR_WRITE, ok; ok 1000
            complete wal-exclusive rollback: ok, ok; ok 1000
            complete wal-exclusive select: ok, ok; ok 1000
            complete wal-exclusive select elsewhere: ok, ok; ok 1000
            complete wal-exclusive open: SQLITE_CANTOPEN, ok; ok 1000
            complete wal-exclusive new database: SQLITE_CANTOPEN, ok; ok 1000
            complete delete commit: SQLITE_IOERR_WRITE, ok; ok 1000
            complete delete rollback: ok, ok; ok 1000
            complete delete select: ok, ok; ok 1000
            complete delete select elsewhere: SQLITE_IOERR_READ, ok; ok 1000
            complete delete open: SQLITE_CANTOPEN, ok; ok 1000
            complete delete new database: SQLITE_CANTOPEN, ok; ok 1000
            completeUnlessOpen wal commit: ok, ok; ok 1001
            completeUnlessOpen wal rollback: ok, ok; ok 1000
            completeUnlessOpen wal select: ok, ok; ok 1000
            completeUnlessOpen wal select elsewhere: ok, ok; ok 1000
            completeUnlessOpen wal open: SQLITE_CANTOPEN, ok; ok 1000
            completeUnlessOpen wal new database: ok, ok; ok 1000
            completeUnlessOpen wal-exclusive commit: ok, ok; ok 1001
            completeUnlessOpen wal-exclusive rollback: ok, ok; ok 1000
            completeUnlessOpen wal-exclusive select: ok, ok; ok 1000
            completeUnlessOpen wal-exclusive select elsewhere: ok, ok; ok 1000
            completeUnlessOpen wal-exclusive open: SQLITE_CANTOPEN, ok; ok 1000
            completeUnlessOpen wal-exclusive new database: ok, ok; ok 1000
            completeUnlessOpen delete commit: ok, ok; ok 1001
            completeUnlessOpen delete rollback: ok, ok; ok 1000
            completeUnlessOpen delete select: ok, ok; ok 1000
            completeUnlessOpen delete select elsewhere: ok, ok; ok 1000
            completeUnlessOpen delete open: SQLITE_CANTOPEN, ok; ok 1000
            completeUnlessOpen delete new database: ok, ok; ok 1000
            completeWhenUserInactive wal commit: ok, SIGBUS, -; ok 1000
            completeWhenUserInactive wal rollback: ok, SIGBUS, -; ok 1000
            completeWhenUserInactive wal select: ok, ok, ok; ok 1000
            completeWhenUserInactive wal select elsewhere: ok, SIGBUS, -; ok 1000
            completeWhenUserInactive wal open: ok, SQLITE_CANTOPEN, ok; ok 1000
            completeWhenUserInactive wal new database: ok, SQLITE_CANTOPEN, ok; ok 1000
            completeWhenUserInactive wal-exclusive commit: ok, SQLITE_IOERR_WRITE, ok; ok 1000
            completeWhenUserInactive wal-exclusive rollback: ok, ok, ok; ok 1000
            completeWhenUserInactive wal-exclusive select: ok, ok, ok; ok 1000
            completeWhenUserInactive wal-exclusive select elsewhere: ok, ok, ok; ok 1000
            completeWhenUserInactive wal-exclusive open: ok, SQLITE_CANTOPEN, ok; ok 1000
            completeWhenUserInactive wal-exclusive new database: ok, SQLITE_CANTOPEN, ok; ok 1000
            completeWhenUserInactive delete commit: ok, SQLITE_IOERR_WRITE, ok; ok 1000
            completeWhenUserInactive delete rollback: ok, ok, ok; ok 1000
            completeWhenUserInactive delete select: ok, ok, ok; ok 1000
            completeWhenUserInactive delete select elsewhere: ok, SQLITE_IOERR_READ, ok; ok 1000
            completeWhenUserInactive delete open: ok, SQLITE_CANTOPEN, ok; ok 1000
            completeWhenUserInactive delete new database: ok, SQLITE_CANTOPEN, ok; ok 1000

            """

        private func lock(_ mount: TestMount) throws {
            try mount.write("lock", to: "device.state")
            try mount.write("+10s", to: "device.clock")
            try #require(try mount.read("device.state") == "locked")
        }

        /// The journal names the process of each refusal.
        @Test func refusalsAreTold() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 8192)
                try Attributes.mark(mount.path("Documents/f"), "fileProtection", "complete")
                try lock(mount)
                let reader = try Program.start(["cat", mount.path("Documents/f")])
                #expect(try reader.wait(within: 20) == 1)
                #expect(reader.errors.contains("Operation not permitted"))
                #expect(throws: Errno.notPermitted) { try OpenFile(mount.path("Documents/f"), O_RDWR) }
                #expect(throws: Errno.notPermitted) {
                    try Attributes.mark(mount.path("Documents/f"), "fileProtection", "none")
                }
                #expect(throws: Errno.invalid) { try Attributes.mark(mount.path("Documents/f"), "fileProtection", "a") }
                #expect(try mount.status().counters.protectionDenied == 3)
                try mount.unmount()
                let events = try StoreEvent.journal(of: mount.store).filter { $0.type == "protectionDenied" }
                #expect(events.map(\.pid) == [reader.pid, getpid(), getpid()])
                #expect(events.allSatisfy { $0.path == "Documents/f" && $0.tier == "persistent" })
                let reasons = ["open complete locked", "open complete locked", "setClass complete locked"]
                #expect(events.map(\.reason) == reasons)
            }
        }

        /// A file of class `completeWhenUserInactive` stays within reach for an hour, or as long as `device.inactivity` says. An
        /// open file keeps neither pages nor access after that, until the unlock.
        @Test func accessExpires() throws {
            try withMount { mount in
                let path = mount.path("Documents/f")
                try mount.make("Documents/f", size: 8192)
                try Attributes.mark(path, "fileProtection", "completeWhenUserInactive")
                try lock(mount)
                #expect(try Files.content(path).count == 8192)
                try mount.write("+50m", to: "device.clock")
                try mount.remount()
                let file = try OpenFile(path, O_RDWR)
                var buffer: UInt8 = 0
                #expect(pread(file.descriptor, &buffer, 1, 0) == 1 && pwrite(file.descriptor, &buffer, 1, 0) == 1)
                try mount.write("+10m", to: "device.clock")
                #expect(pread(file.descriptor, &buffer, 1, 0) == -1 && errno == EPERM)
                #expect(throws: Errno.notPermitted) { try Files.content(path) }
                #expect(try mount.read("device.state") == "locked" && mount.status().device.inactive == true)
                try mount.write("unlock", to: "device.state")
                #expect(try pread(file.descriptor, &buffer, 1, 0) == 1 && mount.status().device.inactive == nil)
                file.close()
                try PurgefsBinary.run("set", mount.root, "device.inactivity=5m").succeeded()
                try mount.remount()
                try lock(mount)
                #expect(try mount.read("device.inactivity") == "5m" && Files.content(path).count == 8192)
                try mount.write("+5m", to: "device.clock")
                #expect(throws: Errno.notPermitted) { try Files.content(path) }
                try mount.unmount()
                let events = try StoreEvent.journal(of: mount.store).filter { $0.type == "device" }
                let lasting = ["locking", "locked", "inactive"]
                #expect(events.map(\.reason) == lasting + ["unlocked"] + lasting)
            }
        }

        /// The store keeps the state and the classes. Another default applies only to files that are made under it.
        @Test func aLockedDeviceStaysLockedOverRemounts() throws {
            try withMount { mount in
                for name in ["own", "default", "free"] { try mount.make("Documents/\(name)", size: 8192) }
                try Attributes.mark(mount.path("Documents/own"), "fileProtection", "complete")
                try Attributes.mark(mount.path("Documents/free"), "fileProtection", "none")
                try lock(mount)
                try mount.remount()
                #expect(throws: Errno.notPermitted) { try Files.content(mount.path("Documents/own")) }
                #expect(try Files.content(mount.path("Documents/default")).count == 8192)
                try mount.remount(["--protection", "complete"])
                #expect(try Files.content(mount.path("Documents/default")).count == 8192)
                let name = "user.purgefs.fileProtection"
                let made = "NSFileProtectionCompleteUntilFirstUserAuthentication"
                #expect(try Attributes.text(mount.path("Documents/default"), name) == made)
                #expect(throws: Errno.notPermitted) { try mount.make("Documents/new", size: 1) }
                #expect(try Files.content(mount.path("Documents/free")).count == 8192)
                try mount.write("unlock", to: "device.state")
                for name in ["own", "default", "free"] {
                    #expect(try Files.content(mount.path("Documents/\(name)")).count == 8192)
                }
            }
        }

        /// The mount stores the classes of existing files before the new default. If the disk has room for the classes only,
        /// the mount fails and says so.
        @Test func aDefaultThatCannotBeSaved() throws {
            try withMount(on: .tmpfs, tmpfsSize: "4M") { mount in
                mount.expectWarnings()
                for name in ["a", "b"] { try mount.make("Documents/\(name)", size: 1) }
                try mount.unmount()
                _ = try Program.shell("head -c 8M /dev/zero > fill", in: "\(mount.store)/..")
                let outcome = try PurgefsBinary.run("mount", "--protection", "complete", mount.store, mount.root)
                #expect(
                    outcome.status == 1
                        && outcome.errors.hasSuffix("The default class is unchanged; 2 files have it stored now.\n"),
                    "\(outcome)")
            }
        }

        /// The files of a seed get the default class that the command names. A later run with another default does not
        /// change it.
        @Test func theDefaultOfANewContainer() throws {
            try Scratch.with("default") { scratch in
                let seed = scratch.path + "/seed"
                for folder in [seed, seed + "/Documents"] { try Files.makeDirectory(folder) }
                try Files.write("x", to: seed + "/Documents/f")
                let looking = "getfattr --only-values -n user.purgefs.fileProtection ~/Documents/f"
                for arguments in [["--seed", seed], ["--seed", seed, "--store", scratch.path + "/store"]] {
                    let seen = try Program.run(
                        [PurgefsBinary.path, "run", "--quiet", "--protection", "complete"] + arguments
                            + ["--", "sh", "-c", looking])
                    #expect(try seen.succeeded() == "NSFileProtectionComplete")
                }
                let again = try Program.run(
                    PurgefsBinary.path, "run", "--quiet", "--protection", "none", "--store", scratch.path + "/store",
                    "--", "sh", "-c", looking)
                #expect(try again.succeeded() == "NSFileProtectionComplete")
            }
        }

        /// A refused write leaves nothing in the store, although the kernel puts its data into a mapped page before it asks the
        /// daemon to admit the write.
        @Test func refusedWritesLeaveNothing() throws {
            try withMount(deadline: 60) { mount in
                let program = Self.program("refused_write")
                let outcome = try Program.run(
                    [Program.python, program, mount.root, mount.path("Documents/f")], timeout: 50)
                let stores = try #require(Int(try outcome.succeeded().dropLast()))
                #expect(stores > 0)
                let expected = [UInt8](repeating: UInt8(ascii: "S"), count: 4 * Int(getpagesize()))
                #expect(try Files.content("\(mount.store)/container/Documents/f") == expected)
            }
        }

        /// Locking the device does not hang while a program holds the kernel's lock of a folder in which the kernel has to look
        /// up a file.
        @Test func lockingBesideAHeldFolder() throws {
            try withMount(deadline: 60) { mount in
                let program = Self.program("held_folder")
                try Program.run([Program.python, program, mount.root, "make"], timeout: 20).succeeded()
                try mount.remount()
                try Program.run([Program.python, program, mount.root, "lock"], timeout: 30).succeeded()
            }
        }

        @Test func launchingBesideAHeldFolder() throws {
            try withMount(deadline: 60) { mount in
                let program = Self.program("held_folder")
                try Program.run([Program.python, program, mount.root, "launch"], timeout: 40).succeeded()
                #expect(try !mount.read("storage.stat").contains("announcements.late 0\n"))
            }
        }

        /// `locking` ends after its ten seconds without a command. Once the state is `locked`, reads are refused.
        @Test func lockingEndsByItself() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 64 << 10)
                try Attributes.mark(mount.path("Documents/f"), "fileProtection", "complete")
                let file = try OpenFile(mount.path("Documents/f"), O_RDONLY)
                defer { file.close() }
                try mount.write("lock", to: "device.state")
                #expect(try file.read(64 << 10).count == 64 << 10)
                #expect(try mount.read("device.state") == "locking")
                try eventually("the end of locking") { try mount.read("device.state") == "locked" }
                #expect(throws: Errno.notPermitted) { try file.read(1) }
            }
        }

        /// The daemon is killed while its page-dropping thread waits for the answers to its own requests, which nobody serves
        /// any more. All processes end, and the store can be mounted again.
        @Test func killedWhileLocking() throws {
            try withMount(["--total", "1G"], deadline: 240, mounted: false) { mount in
                var random = SeededGenerator(seed: 1)
                for _ in 0..<Scale.of(10) {
                    try mount.mount()
                    try mount.write("unlock", to: "device.state")
                    let writer = try Program.start([Program.python, Self.program("protection_dirty"), mount.root])
                    defer { writer.signalGroup(SIGKILL) }
                    try eventually("writing") { writer.output.contains("begun") }
                    let command = try Program.start([
                        "sh", "-c",
                        "cd '\(mount.root)/.purgefs' && echo lock > device.state && echo +10s > device.clock",
                    ])
                    for _ in 0..<random.below(400) { _ = mount.exists("Documents/none") }
                    try mount.kill()
                    if MountTable.entry(at: mount.root) != nil {
                        try Program.run("fusermount3", "-u", "-z", mount.root, timeout: 30).succeeded()
                    }
                    try command.wait(within: 10)
                    writer.signalGroup(SIGKILL)
                    try writer.wait(within: 10)
                }
                try mount.mount()
                #expect(["unlocked", "locking", "locked"].contains(try mount.read("device.state")))
            }
        }

        /// The daemon is killed while it constantly drops pages of unlinked files, one of which is always being written. The
        /// writer ends, and the store can be mounted again.
        @Test func killedAmidRefusedWrites() throws {
            try withMount(["--total", "1G"], deadline: 240, mounted: false) { mount in
                var random = SeededGenerator(seed: 1)
                for _ in 0..<Scale.of(10) {
                    try mount.mount()
                    try mount.write("unlock", to: "device.state")
                    let writer = try Program.start([Program.python, Self.program("refused_storm"), mount.root])
                    defer { writer.signalGroup(SIGKILL) }
                    try eventually("refused writes") { writer.output.contains("begun") }
                    for _ in 0..<random.below(400) { _ = mount.exists("Documents/none") }
                    try mount.kill()
                    if MountTable.entry(at: mount.root) != nil {
                        try Program.run("fusermount3", "-u", "-z", mount.root, timeout: 30).succeeded()
                    }
                    writer.signalGroup(SIGKILL)
                    try writer.wait(within: 10)
                }
                try mount.mount()
            }
        }

        /// A program that retries endlessly does not fill the daemon's memory.
        @Test func refusalsWithoutEnd() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 8192)
                try Attributes.mark(mount.path("Documents/f"), "fileProtection", "complete")
                let file = try OpenFile(mount.path("Documents/f"), O_RDONLY)
                defer { file.close() }
                try lock(mount)
                let daemon = try #require(mount.daemon)
                let before = try Self.residentKilobytes(of: daemon.pid)
                let attempts = Scale.of(60_000)
                var buffer: UInt8 = 0
                for _ in 0..<attempts { #expect(pread(file.descriptor, &buffer, 1, 0) == -1 && errno == EPERM) }
                let growth = try Self.residentKilobytes(of: daemon.pid) - before
                #expect(growth < 40 << 10, "\(growth) KiB for \(attempts) refusals")
                #expect(try mount.status().counters.protectionDenied >= attempts)
            }
        }

        private static func residentKilobytes(of pid: pid_t) throws -> Int {
            let line = Files.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            return try #require(line?.split { $0 == "\t" || $0 == " " }.dropFirst().first.flatMap { Int($0) })
        }
    }
}
