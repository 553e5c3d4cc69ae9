import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The journal never delays the mount and can always be read.
    @Suite struct JournalTests {
        private static let locker = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            sys.stdin.read()
            """

        /// Runs `body` while another program holds a lock on the journal.
        private func locked(_ mount: TestMount, _ body: () throws -> Void) throws {
            let stop = "\(mount.scratch)/stop"
            guard mkfifo(stop, 0o600) == 0 else { throw TestFailure("no FIFO") }
            let script = "\(mount.scratch)/locker.py"
            try Data(Self.locker.utf8).write(to: URL(fileURLWithPath: script))
            let child = try Program.start([
                "sh", "-c", "exec \(Program.python) \(script) \(mount.store)/journal.sqlite < \(stop)",
            ])
            // Because the FIFO is opened for reading and writing, this open does not block, and the child reads no end of file
            // before the close.
            let end = Glibc.open(stop, O_RDWR)
            defer {
                close(end)
                child.signalGroup(SIGKILL)
                _ = try? child.wait(within: 5)
            }
            try eventually("a locked journal") { child.output.contains("locked") }
            try body()
            #expect(child.status() == nil, "the journal was not locked to the end")
        }

        /// Writes that purge, and commands, succeed while another program has locked the journal.
        @Test func aLockedJournalIsNotInTheWay() throws {
            try withMount { mount in
                mount.expectWarnings()
                for number in 0..<20 { try mount.make("Library/Caches/\(number)", size: 4096) }
                try mount.takeAllFreeSpace()
                try locked(mount) {
                    for number in 0..<10 { try mount.writeImportant(4096, to: "Documents/\(number)") }
                    try mount.write("4096", to: "storage.reclaim")
                }
                #expect(try mount.purgesAfterUnmount().count == 11)
            }
        }

        /// The daemon reports a lock once, however long it lasts. The journal catches up as soon as it can be written.
        @Test func aLockedJournalIsReportedOnceAndCaughtUp() throws {
            try withMount { mount in
                mount.expectWarnings()
                try locked(mount) {
                    try eventually("a report") {
                        try mount.write("+4096", to: "storage.others")
                        return mount.log.contains("journal")
                    }
                    for _ in 0..<5 { try mount.write("+4096", to: "storage.others") }
                }
                #expect(mount.log.components(separatedBy: "the journal").count == 2, "\(mount.log)")
                let others = try mount.number("storage.others")
                try mount.unmount()
                let told = try StoreEvent.journal(of: mount.store).count { $0.type == "capacity" }
                #expect(Int64(told) == others / 4096)
            }
        }

        /// The daemon maps none of SQLite's files, because the disk could fail to deliver a page. Other processes can read the
        /// journal while the daemon runs.
        @Test func nothingOfTheJournalIsMapped() throws {
            try withMount { mount in
                func check() throws {
                    let daemon = try #require(mount.daemon)
                    try mount.write("+4096", to: "storage.others")
                    #expect(!Files.text("/proc/\(daemon.pid)/maps").contains("journal.sqlite"))
                    let events = try PurgefsBinary.run("events", mount.root, "--json", "--type", "capacity").succeeded()
                    #expect(try StoreEvent.lines(events).count == Int(mount.number("storage.others") / 4096))
                    #expect(try StoreEvent.journal(of: mount.store).contains { $0.type == "mount" })
                }
                try check()
                try mount.remount()
                try check()
                #expect(!Files.exists("\(mount.store)/journal.sqlite-shm"))
            }
        }

        /// The event of a command that has returned survives kill -9 of the daemon.
        @Test func whatIsASecondOldSurvivesAKill() throws {
            try withMount { mount in
                try mount.make("tmp/f", size: 4096)
                try mount.write("tmp", to: "storage.reclaim")
                for _ in 0..<Scale.of(10) {
                    try mount.write("+4096", to: "storage.others")
                    try mount.crash()
                    try mount.mount()
                }
                let kept = try StoreEvent.journal(of: mount.store)
                #expect(kept.count { $0.type == "capacity" } == Scale.of(10))
                #expect(kept.map(\.seq) == (1...Int64(kept.count)).map { $0 })
            }
        }

        /// Two hundred readers that never read cost little, because all share one copy of the pending events.
        @Test func readersThatNeverReadCostNothing() throws {
            try withMount { mount in
                let daemon = try #require(mount.daemon)
                func memory() throws -> Int64 {
                    let line = Files.text("/proc/\(daemon.pid)/status").split(separator: "\n").first {
                        $0.hasPrefix("RssAnon")
                    }
                    return try #require(line.flatMap { Int64($0.filter(\.isNumber)) }) << 10
                }
                let readers = try (0..<200).map { _ in try OpenFile(mount.control("events"), O_RDONLY | O_NONBLOCK) }
                let long = String(repeating: "n", count: 240)
                func purge() throws {
                    for number in 0..<1000 { try mount.make("tmp/\(long)\(number)", size: 1) }
                    try mount.write("tmp", to: "storage.reclaim")
                }
                try purge()
                let before = try memory()
                for _ in 0..<4 { try purge() }
                #expect(try memory() - before < 60 << 20)
                for reader in readers { reader.close() }
            }
        }
    }
}
