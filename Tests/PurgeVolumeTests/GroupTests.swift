import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Directories that are purged as one (docs/RULES.md, Groups).
struct GroupTests {
    private func purged(_ live: LiveVolume) throws -> [String?] { try live.events(.purge).map(\.path) }

    /// Creates a volume of 2000 blocks in which `Library/Caches/g` is a group of 700 files with one block each.
    private func withLargeGroup(_ body: (LiveVolume) throws -> Void) throws {
        try withVolume(settings: { settings in
            settings.total = ByteCount(blocks: 2000)
            settings.thresholds = .off
        }) { live in
            try live.makeDirectory("Library/Caches/g")
            try live.makeDirectory("Library/Caches/g/sub")
            try live.set("purgeGroup", of: "Library/Caches/g", to: "1")
            for number in 0..<350 {
                try live.make("Library/Caches/g/\(number)", blocks: 1)
                try live.make("Library/Caches/g/sub/\(number)", blocks: 1)
            }
            try live.make("Library/Caches/other", blocks: 1)
            try body(live)
        }
    }

    private func expectWholeGroup(_ live: LiveVolume, trigger: PurgeTrigger) throws {
        let events = try live.events(.purge)
        #expect(events.count == 700 && events.allSatisfy { $0.trigger == trigger && $0.reason == "caches" })
        #expect(live.exists("Library/Caches/other") && live.exists("Library/Caches/g/sub"))
        #expect(try Files.names(in: live.stored("Library/Caches/g")) == ["sub"])
        #expect(try live.scannedBlocks() == live.used)
    }

    /// A plan uses its victims after it has released the lock. If their group has ended meanwhile, they belong to none.
    @Test func aGroupThatHasBecomeEmptyBelongsToNothing() throws {
        try withVolume { live in
            for (name, end) in [
                ("kept", { try live.set("purgeGroup", of: "Library/Caches/kept", to: "0") }),
                (
                    "gone",
                    {
                        try live.unlink("Library/Caches/gone/file")
                        try live.removeDirectory("Library/Caches/gone")
                    }
                ),
            ] as [(String, () throws -> Void)] {
                try live.makeDirectory("Library/Caches/\(name)")
                try live.set("purgeGroup", of: "Library/Caches/\(name)", to: "1")
                try live.make("Library/Caches/\(name)/file", blocks: 1)
                let core = live.volume.core
                let found = core.read { state in state.tree.victims.filter { $0.unit?.directory.name == Name(name) } }
                #expect(found.count == 1)
                try end()
                #expect(core.read { _ in found.allSatisfy { $0.unit == nil } })
            }
        }
    }

    @Test func aWriteThatNeedsOneBlock() throws {
        try withLargeGroup { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.allocate(handle, 0, 0, 1300 * 4096)  // 1299 blocks are free
            try expectWholeGroup(live, trigger: .importantWrite)
            #expect(live.used == 1301)
        }
    }

    @Test func aWriteThatNeedsMoreThanOneStep() throws {
        try withLargeGroup { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.allocate(handle, 0, 0, 1599 * 4096)
            try expectWholeGroup(live, trigger: .importantWrite)
        }
    }

    @Test func aCommandForABlock() throws {
        try withLargeGroup { live in
            let handle = ControlHandle(file: .storagePlan, reader: nil)
            try live.volume.controlFiles.write(handle, Array("4096".utf8), pid: 1)
            let answer = live.volume.controlFiles.read(handle, offset: 0, limit: .max)
            try live.command(.storageReclaim, "4096")
            try expectWholeGroup(live, trigger: .command)
            let planned = String(decoding: answer, as: UTF8.self).split(separator: "\n").map { line in
                line.split(separator: "\"").first { $0.hasPrefix("Library/") }.map(String.init)
            }
            #expect(try planned == purged(live))
        }
    }

    @Test func aSmallerDeviceAndPressure() throws {
        try withLargeGroup { live in
            try live.command(.storageTotal, "\(700 * 4096)")
            try expectWholeGroup(live, trigger: .capacity)
        }
        try withLargeGroup { live in
            try live.volume.startThreads()
            defer { live.volume.end() }
            let (low, desired) = (1300 * 4096, 1301 * 4096)
            try live.command(.storageThresholds, "verylow=0,low=\(low),nearlow=\(low),desired=\(desired)")
            try expectWholeGroup(live, trigger: .pressure)
        }
    }

    /// A write that cannot get enough room puts the victims back, and leaves the group as it was.
    @Test func aWriteThatFindsTooLittle() throws {
        try withLargeGroup { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            let open = try live.open("Library/Caches/g/0")
            #expect(throws: Errno.noSpace) { try live.allocate(handle, 0, 0, 2000 * 4096) }
            live.volume.close(open)
            #expect(try purged(live).isEmpty && live.used == 701)
            // Opening "0" was a use of the whole group.
            try live.allocate(handle, 0, 0, 1300 * 4096)
            #expect(try purged(live) == ["Library/Caches/other"])
        }
    }

    /// Files that are used during the purge of their group stay.
    @Test func whatIsUsedMeanwhileStays() throws {
        let moment = Moment()
        let kernel = FakeKernel(on: .slowWork) { moment.come() }
        try withVolume(port: kernel, settings: { $0.total = ByteCount(blocks: 2000) }) { live in
            try live.makeDirectory("Library/Caches/g")
            try live.set("purgeGroup", of: "Library/Caches/g", to: "1")
            for number in 0..<300 { try live.make("Library/Caches/g/\(number)", blocks: 1) }
            let (volume, node) = (live.volume, try live.node("Library/Caches/g/299"))
            moment.run {
                volume.close(
                    try volume.open(node, flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: false))
            }
            try live.command(.storageReclaim, "4096")
            #expect(try Files.names(in: live.stored("Library/Caches/g")) == ["299"])
        }
    }

    /// A use counts for the whole group at once, even if the file stays open.
    @Test func usesOfOpenFiles() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/g")
            try live.set("purgeGroup", of: "tmp/g", to: "1")
            for name in ["g/a", "g/b", "c"] { try live.make("tmp/\(name)", blocks: 1) }
            let handle = try live.open("tmp/g/a", O_RDONLY)
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/c"])
            try live.make("tmp/d", blocks: 1)
            let writer = try live.open("tmp/g/a")
            try live.write(writer, at: 0, 1)
            live.volume.close(writer)
            live.volume.close(handle)
            try live.unlink("tmp/g/a")
            // The group keeps the use of the removed file.
            try live.make("tmp/e", blocks: 1)
            for _ in 0..<2 { try live.command(.storageReclaim, "4096") }
            #expect(try purged(live) == ["tmp/c", "tmp/d", "tmp/g/b"])
        }
    }

    @Test func theAttribute() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/g")
            #expect(throws: Errno.invalid) { try live.set("purgeGroup", of: "tmp/g", to: "2") }
            try live.make("tmp/f", blocks: 1)
            #expect(throws: Errno.invalid) { try live.set("purgeGroup", of: "tmp/f", to: "1") }
            try live.set("purgeGroup", of: "tmp/g", to: "1")
            #expect(try live.events(.mark).map(\.reason) == ["purgeGroup=1"])
            for name in ["a", "b"] { try live.make("tmp/g/\(name)", blocks: 1) }
            // A scan, as at the next mount, finds the group.
            let next = try live.scanned()
            let plan = PurgeSelections(core: next.core).plan(.bytes(ByteCount(1)), below: Array("tmp/g".utf8))
            #expect(plan.victims.map { String(decoding: $0.file.path, as: UTF8.self) } == ["tmp/g/a", "tmp/g/b"])
            try live.remove("purgeGroup", from: "tmp/g")
            try live.command(.storageReclaim, "4096")
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/f", "tmp/g/a"])
        }
    }

    /// Files of a folder that was moved out of a group no longer go with the group, and files of a folder that was moved in do.
    @Test func movedFolders() throws {
        try withVolume { live in
            for folder in ["tmp/g", "tmp/g/in", "tmp/out"] { try live.makeDirectory(folder) }
            try live.set("purgeGroup", of: "tmp/g", to: "1")
            for name in ["g/in/1", "g/2", "out/3", "out/4", "5"] { try live.make("tmp/\(name)", blocks: 1) }
            try live.rename("tmp/g/in", "tmp/in")
            try live.rename("tmp/out", "tmp/g/out")
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/in/1"])
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/in/1", "tmp/g/2", "tmp/g/out/3", "tmp/g/out/4"])
        }
    }
}
