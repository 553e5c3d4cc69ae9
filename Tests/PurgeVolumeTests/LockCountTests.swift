import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

#if DEBUG
/// How often an operation takes the volume's lock, as debug builds count it. An overwrite takes it twice: to begin and to end.
struct LockCountTests {
    private func acquisitions(_ live: LiveVolume, _ body: () throws -> Void) rethrows -> Int {
        let before = live.volume.core.acquisitions
        try body()
        return live.volume.core.acquisitions - before
    }

    @Test func anOverwriteTakesItTwice() throws {
        try withVolume { live in
            let handle = try live.create("tmp/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 0, 4 * 4096)
            #expect(try acquisitions(live) { try live.write(handle, at: 0, 4 * 4096) } == 2)
            #expect(try acquisitions(live) { try live.write(handle, at: 5000, 1) } == 2)
        }
    }

    @Test func anAppendTakesItTwice() throws {
        try withVolume { live in
            let handle = try live.create("tmp/f")
            defer { live.volume.close(handle) }
            #expect(try acquisitions(live) { try live.write(handle, at: 0, 100) } == 2)
            #expect(try acquisitions(live) { try live.write(handle, at: 100, 8 * 4096) } == 2)
            #expect(live.used == 9)
        }
    }

    /// A write to a sparse file also keeps its recorded size current, and checks whether the record is still needed.
    @Test func aWriteToASparseFileTakesItFourTimes() throws {
        try withVolume { live in
            let handle = try live.create("tmp/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 8 * 4096, 4096)
            #expect(try acquisitions(live) { try live.write(handle, at: 9 * 4096, 4096) } == 4)
        }
    }

    @Test func makingAFileTakesItTwice() throws {
        try withVolume { live in
            let parent = try live.node("tmp")
            var made: (Entry, Handle)?
            let count = try acquisitions(live) {
                made = try live.volume.create(
                    "f", in: parent, mode: 0o644, flags: O_RDWR | O_CREAT, caller: LiveVolume.caller,
                    offersPassthrough: false)
            }
            #expect(count == 2)
            let (entry, handle) = try #require(made)
            #expect(acquisitions(live) { live.volume.close(handle) } == 1)
            live.volume.forget(entry.node, count: 1)
        }
    }

    @Test func openingAFileTakesItThreeTimes() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            let node = try live.node("tmp/f")
            var opened: Handle?
            let count = try acquisitions(live) {
                opened = try live.volume.open(
                    node, flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: false)
            }
            #expect(count == 3)
            live.volume.close(try #require(opened))
        }
    }

    /// A change of a folder reaches the files below in steps, between which other calls have a turn.
    @Test func aChangeOfALargeFolderTakesItSeveralTimes() throws {
        let changes: [(String, (LiveVolume, String) throws -> Void)] = [
            ("rename", { try $0.rename("Documents/\($1)", "Library/Caches/\($1)") }),
            ("mark", { try $0.set("isPurgeable", of: "Library/Caches/\($1)", to: "high") }),
            ("exclusion", { try $0.set("isExcludedFromBackup", of: "Library/Caches/\($1)", to: "1") }),
            ("group", { try $0.set("purgeGroup", of: "Library/Caches/\($1)", to: "1") }),
            ("tombstone", { try $0.set("purgeTombstone", of: "Library/Caches/\($1)", to: "1") }),
            ("age", { try $0.set("purgeAfter", of: "Library/Caches/\($1)", to: "7d") }),
            ("no age", { try $0.remove("purgeAfter", from: "Library/Caches/\($1)") }),
            ("size", { try $0.set("sizeLimit", of: "Library/Caches/\($1)", to: "1MiB") }),
            ("exchange", { try $0.rename("Library/Caches/\($1)", "Documents/\($1)2", flags: 2) }),
        ]
        try withVolume { live in
            for folder in ["small", "large", "small2", "large2"] { try live.makeDirectory("Documents/\(folder)") }
            for number in 0..<2500 { live.volume.close(try live.create("Documents/large/f\(number)")) }
            for (name, change) in changes {
                let counts = try ["small", "large"].map { folder in
                    let before = live.volume.core.changes
                    try change(live, folder)
                    return live.volume.core.changes - before
                }
                #expect(counts[1] > counts[0], "\(name)")
            }
        }
    }

    /// A write that is short of room takes the lock more often, which also shows that the counter counts.
    @Test func aWriteThatPurgesTakesItMoreOften() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 60)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            #expect(try acquisitions(live) { try live.write(handle, at: 0, 8 * 4096) } > 4)
            #expect(!live.exists("tmp/a"))
        }
    }
}
#endif
