import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// Reports about a journal that fails or is damaged.
struct JournalReportTests {
    private func sql(_ path: String, _ text: String) throws -> String {
        try Program.run("sqlite3", "\(path)/journal.sqlite", text).succeeded()
    }

    /// A failure is reported once, even while there are no events to write.
    @Test func aFailureIsSaidOnce() throws {
        let kernel = FakeKernel()
        try withStore { path in
            let live = try LiveVolume(path, port: kernel)
            try live.make("tmp/a", blocks: 1)
            let keeper = live.volume.keeper
            func rename(_ old: String, _ new: String) throws {
                _ = try sql(path, "ALTER TABLE \(old) RENAME TO \(new)")
            }
            func rounds(_ count: Int) -> [Bool] {
                (0..<count).map { _ in
                    keeper.flushEvents()
                    return keeper.saveLastUses()
                }
            }
            #expect(rounds(1) == [true])
            for time in 1...2 {
                live.volume.close(try live.open("tmp/a"))
                try rename("last_uses", "hidden")
                #expect(rounds(5) == Array(repeating: false, count: 5))
                #expect(kernel.reports.count == time)
                try rename("hidden", "last_uses")
                // A new failure is reported again.
                #expect(rounds(2) == [true, true])
            }
            #expect(kernel.reports.allSatisfy { $0.what.hasPrefix("the journal failed") })
            live.volume.end()
        }
    }

    /// Damage that the volume finds only when it writes the last uses at its end is reported, and the journal is replaced.
    @Test func damageThatTheEndFinds() throws {
        let kernel = FakeKernel()
        try withStore { path in
            let live = try LiveVolume(path, port: kernel, replacesJournal: true)
            try live.make("tmp/a", blocks: 1)
            live.volume.keeper.flushEvents()
            #expect(live.volume.keeper.saveLastUses())
            let root = try sql(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'last_uses'")
            let page = try #require(Int64(root.filter(\.isNumber)))
            let file = try FileDescriptor.open("\(path)/journal.sqlite", O_RDWR)
            _ = try [UInt8](repeating: 0xA5, count: 4096).withUnsafeBytes {
                try System.pwrite(file.raw, $0, offset: (page - 1) * 4096)
            }
            // Makes the connection read the page again.
            _ = try sql(path, "PRAGMA schema_version = 99")
            live.volume.close(try live.open("tmp/a"))
            #expect(live.volume.end()?.what.hasPrefix("the journal was damaged:") == true)
            #expect(kernel.reports.map { $0.what.prefix(24) } == ["the journal was damaged:"])
            #expect(try JournalReader(storePath: path).events().map(\.type) == [.dropped])
        }
    }
}
