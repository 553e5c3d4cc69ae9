import PurgeModel
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// Tier and mark follow from a file's names (docs/RULES.md, Places).
struct VolumePlacementTests {
    private func expect(
        _ live: LiveVolume, _ temporary: Int64, _ caches: Int64, _ persistent: Int64, marked: Int64 = 0,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let status = live.volume.status()
        let found = [status.tiers.temporary, status.tiers.caches, status.tiers.persistent].map { $0.bytes.bytes / 4096 }
        #expect(found == [temporary, caches, persistent], sourceLocation: location)
        #expect(status.marked.purgeable.bytes.bytes / 4096 == marked, sourceLocation: location)
    }
    private func tier(_ live: LiveVolume, _ path: String) throws -> String {
        let value = try live.volume.extendedAttributes.value(
            of: try live.node(path), named: "user.purgefs.tier", caller: LiveVolume.caller)
        return String(decoding: value, as: UTF8.self)
    }

    @Test func aFileMovesToTheTierOfItsNewPlace() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 2)
            expect(live, 0, 0, 2)
            for (old, new, numbers) in [
                ("Documents/f", "tmp/f", [2, 0, 0]), ("tmp/f", "Library/Caches/f", [0, 2, 0]),
                ("Library/Caches/f", "Library/f", [0, 0, 2]), ("Library/f", "f", [0, 0, 2]),
            ] as [(String, String, [Int64])] {
                try live.rename(old, new)
                expect(live, numbers[0], numbers[1], numbers[2])
            }
            #expect(try live.blocks(.storageReclaimable) == 0)
        }
    }

    @Test func renamingLibraryMovesItsCaches() throws {
        try withVolume { live in
            try live.makeDirectory("Library/Caches/a")
            try live.make("Library/Caches/a/f", blocks: 3)
            try live.make("Library/g", blocks: 1)
            expect(live, 0, 3, 1)
            try live.rename("Library", "Other")
            expect(live, 0, 0, 4)
            #expect(try tier(live, "Other/Caches/a/f") == "persistent")
            try live.rename("Other", "Library")
            expect(live, 0, 3, 1)
            try live.rename("Library", "Documents/Library")
            expect(live, 0, 0, 4)
            try live.rename("Documents/Library", "tmp/Library")
            expect(live, 4, 0, 0)
        }
    }

    @Test func renamingCachesAndTmpThemselves() throws {
        try withVolume { live in
            try live.make("Library/Caches/f", blocks: 3)
            try live.make("tmp/g", blocks: 1)
            try live.rename("Library/Caches", "Library/Old")
            expect(live, 1, 0, 3)
            try live.rename("tmp", "Library/Caches")
            expect(live, 0, 1, 3)
            try live.rename("Library/Old", "tmp")
            expect(live, 3, 1, 0)
            try live.rename("tmp", "Library/Caches", flags: 2)
            expect(live, 1, 3, 0)
        }
    }

    @Test func aNewTmpIsTemporary() throws {
        try withVolume { live in
            try live.removeDirectory("tmp")
            try live.makeDirectory("new")
            try live.make("new/f", blocks: 1)
            expect(live, 0, 0, 1)
            try live.rename("new", "tmp")
            expect(live, 1, 0, 0)
            try live.makeDirectory("Documents/tmp")
            try live.make("Documents/tmp/f", blocks: 1)
            expect(live, 1, 0, 1)
        }
    }

    @Test func marksOfDirectoriesReachAllBelow() throws {
        try withVolume { live in
            for path in ["Documents/a", "Documents/a/b", "Documents/c"] { try live.makeDirectory(path) }
            try live.make("Documents/a/b/f", blocks: 2)
            try live.make("Documents/c/g", blocks: 1)
            try live.mark("Documents/a", "high")
            expect(live, 0, 0, 3, marked: 2)
            #expect(try live.blocks(.storageReclaimable) == 2)
            try live.mark("Documents/a/b", "0")
            expect(live, 0, 0, 3)
            try live.mark("Documents/a/b", nil)
            expect(live, 0, 0, 3, marked: 2)
            try live.rename("Documents/a/b", "Documents/c/b")
            expect(live, 0, 0, 3)
            try live.rename("Documents/c", "Documents/a/c")
            expect(live, 0, 0, 3, marked: 3)
            try live.rename("Documents/a", "tmp/a")
            expect(live, 3, 0, 0, marked: 3)
            try live.mark("tmp/a", nil)
            expect(live, 3, 0, 0)
        }
    }

    @Test func theNearestMarkWins() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/a")
            try live.make("Documents/a/g", blocks: 2)
            try live.make("Documents/a/f", blocks: 1)
            try live.mark("Documents/a", "high")
            try live.mark("Documents/a/f", "low")
            try live.mark("Documents/a/g", "0")
            #expect(try live.blocks(.storageReclaimable) == 1)
            try live.mark("", "medium")
            try live.mark("Documents/a/g", nil)
            #expect(try live.blocks(.storageReclaimable) == 3)
            // Low goes before high, although the other file is older.
            try live.command(.storageReclaim, "4096")
            #expect(!live.exists("Documents/a/f") && live.exists("Documents/a/g"))
        }
    }

    @Test func severalNamesHaveTheMostDurableTier() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 2)
            #expect(try live.blocks(.storageReclaimable) == 2)
            try live.link("tmp/f", "Library/Caches/f")
            expect(live, 0, 2, 0)
            #expect(try live.blocks(.storageReclaimable) == 0)
            try live.link("tmp/f", "Documents/f")
            expect(live, 0, 0, 2)
            try live.unlink("Documents/f")
            expect(live, 0, 2, 0)
            try live.unlink("tmp/f")
            expect(live, 0, 2, 0)
            #expect(try live.blocks(.storageReclaimable) == 2)
            #expect(try tier(live, "Library/Caches/f") == "caches")
        }
    }

    @Test func severalNamesMoveWithTheirDirectories() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/a")
            try live.make("tmp/f", blocks: 2)
            try live.link("tmp/f", "Documents/a/f")
            expect(live, 0, 0, 2)
            try live.rename("Documents/a", "tmp/a")
            expect(live, 2, 0, 0)
            try live.mark("tmp/a", "low")
            expect(live, 2, 0, 0)  // a hard-linked file has only its own mark
            try live.mark("tmp/f", "low")
            expect(live, 2, 0, 0, marked: 2)
            try live.rename("tmp/f", "tmp/a/g")
            try live.rename("tmp/a", "Library/Caches/a")
            expect(live, 0, 2, 0, marked: 2)
        }
    }

    @Test func renamingOverOneOfSeveralNames() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 2)
            try live.link("Documents/f", "tmp/f")
            try live.make("Documents/g", blocks: 1)
            try live.rename("Documents/f", "tmp/f")  // two names of one file: nothing happens
            #expect(live.exists("Documents/f"))
            try live.rename("Documents/g", "Documents/f")
            expect(live, 2, 0, 1)
            try live.rename("Documents/f", "tmp/f")
            expect(live, 1, 0, 0)
            #expect(live.used == 1)
        }
    }

    @Test func anUnlinkedFileKeepsItsLastPlace() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 2)
            let handle = try live.open("tmp/f")
            try live.unlink("tmp/f")
            try live.rename("tmp", "Documents/old")
            expect(live, 2, 0, 0)
            #expect(try live.write(handle, at: 8192, 4096) == 4096)
            expect(live, 3, 0, 0)
            live.volume.close(handle)
            expect(live, 0, 0, 0)
        }
    }

    /// Other calls come between the steps of a rename. Afterwards the numbers match the scan of the next mount.
    @Test func callsBetweenTheStepsOfARename() throws {
        let calls = Mutex<[@Sendable () -> Void]>([])
        try withVolume(port: FakeKernel(on: .slowWork) { calls.withLock { $0.popLast() }?() }) { live in
            try live.makeDirectory("Documents/d")
            for number in 0..<2500 { live.volume.close(try live.create("Documents/d/f\(number)")) }
            calls.withLock {
                $0 = [
                    {
                        _ = try? live.rename("Library/Caches/d/f0", "Documents/moved")
                        _ = try? live.mark("Library/Caches/d/f1", "high")
                        _ = try? live.unlink("Library/Caches/d/f2")
                    },
                    {
                        _ = try? live.makeDirectory("Library/Caches/d/sub")
                        _ = try? live.rename("Library/Caches/d/f3", "Library/Caches/d/sub/f3")
                        _ = try? live.make("Library/Caches/d/sub/new", blocks: 2)
                        _ = try? live.rename("Library/Caches/d/sub", "tmp/sub")
                    },
                ]
            }
            try live.rename("Documents/d", "Library/Caches/d")
            #expect(calls.withLock { $0.isEmpty })
            #expect(live.exists("Documents/moved") && live.exists("tmp/sub/f3") && live.exists("tmp/sub/new"))
            #expect(!live.exists("Library/Caches/d/f2"))
            let (found, next) = (live.volume.status(), try live.scanned().status())
            #expect(found.tiers.caches.files == 2497 && found.tiers.temporary.files == 2)
            #expect(files(found) == files(next))
            #expect(try live.blocks(.storageReclaimable) == 2)
        }
    }

    private func files(_ status: StatusReport) -> [Int64] {
        let tiers = status.tiers
        return [tiers.temporary.files, tiers.caches.files, tiers.persistent.files, status.marked.purgeable.files]
    }
}
