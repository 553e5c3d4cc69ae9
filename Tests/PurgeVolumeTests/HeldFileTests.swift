import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Held files, whose names or attributes are changing: they count as before, and a call that needs them waits.
struct HeldFileTests {
    private func held(_ live: LiveVolume, _ name: String) throws -> Node {
        let key = name.withCString { Name($0) }
        let node = try live.volume.lookups.heldEntry(key, in: try live.node("tmp"))
        return try #require(node)
    }

    @Test func itsBytesStayReclaimable() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 40)
            let node = try held(live, "a")
            #expect(try live.blocks(.storageReclaimable) == 40)
            #expect(live.volume.statistics(at: try live.node("Documents")).available == 64)
            live.volume.access.unhold(node)
            #expect(try live.blocks(.storageReclaimable) == 40)
            try live.unlink("tmp/a")
            #expect(try live.blocks(.storageReclaimable) == 0)
            #expect(live.used == 0)
        }
    }

    @Test func aWriteThatNeedsItWaits() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 64)
            let node = try held(live, "a")
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            let volume = live.volume
            let seen = volume.core.released.generation
            let isDone = Tally()
            let writing = Workers.start(1) { _ in
                let request = WriteRequest(
                    offset: 0, length: 4096, isMapped: false, dropsPrivileges: false, tid: LiveVolume.tid)
                _ = try volume.answering { (debt) throws(Errno) in
                    try volume.fileData.write(
                        handle, request,
                        TestData { (fd, bytes) throws(Errno) in try LiveVolume.put(fd, bytes.count, 0) }, debt: &debt)
                }.announced()
                isDone.add()
            }
            // A folder is not purgeable, so holding and releasing it does not wake the write.
            for _ in 0..<20 {
                let folder = try volume.lookups.heldEntry(Name("tmp"), in: volume.root)
                volume.access.unhold(try #require(folder))
            }
            #expect(volume.core.released.generation == seen && isDone.value == 0)
            volume.access.unhold(node)
            try writing.join(within: 20)
            #expect(!live.exists("tmp/a"))
            #expect(live.used == 1)
        }
    }

    /// A write that waits in vain is refused like any other write that finds no room.
    @Test func aRefusalAfterTheWaitIsRecorded() throws {
        try withVolume(patience: 50) { live in
            try live.make("tmp/a", blocks: 64)
            let node = try held(live, "a")
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            #expect(throws: Errno.noSpace) { try live.write(handle, at: 0, 2 * 4096) }
            let refused = try live.events(.refused)
            #expect(refused.map(\.path) == ["Documents/f"] && refused.map(\.bytes) == [ByteCount(blocks: 2)])
            #expect(refused.map(\.reason) == ["important"] && refused.map(\.pid) == [LiveVolume.tid])
            #expect(live.volume.status().counters.refusedWrites == 1)
            live.volume.access.unhold(node)
            #expect(live.exists("tmp/a"))
        }
    }

    /// A held file does not stop a purge of the others, and a purge after its release takes it.
    @Test func othersGoMeanwhile() throws {
        try withVolume { live in
            for name in ["a", "b"] { try live.make("tmp/\(name)", blocks: 32) }
            let node = try held(live, "a")
            try live.make("Documents/f", blocks: 10)
            #expect(live.exists("tmp/a") && !live.exists("tmp/b"))
            live.volume.access.unhold(node)
            try live.make("Documents/g", blocks: 30)
            #expect(!live.exists("tmp/a"))
            #expect(live.used == 40)
        }
    }

    @Test func anOpenedFileIsNotReclaimable() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 40)
            let node = try held(live, "a")
            let handle = try live.open("tmp/a", O_RDONLY)
            #expect(try live.blocks(.storageReclaimable) == 0)
            live.volume.access.unhold(node)
            #expect(try live.blocks(.storageReclaimable) == 0)
            live.volume.close(handle)
            #expect(try live.blocks(.storageReclaimable) == 40)
            try live.command(.storageReclaim, "tmp")
            #expect(live.used == 0)
        }
    }
}

/// Purges of more files than one step takes.
struct LargePurgeTests {
    private static func settings(_ settings: inout Device) {
        settings.total = ByteCount(blocks: 2000)
        settings.thresholds = .off
    }

    @Test func allocationIsAllOrNothing() throws {
        try withVolume(settings: Self.settings) { live in
            for number in 0..<1000 { try live.make("tmp/\(number)", blocks: 1) }
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            let opened = try live.open("tmp/999", O_RDONLY)
            #expect(throws: Errno.noSpace) { try live.allocate(handle, 0, 0, 2000 * 4096) }
            #expect(live.used == 1000)
            #expect(try live.blocks(.storageReclaimable) == 999)
            #expect(try live.events(.purge) == [])
            try live.allocate(handle, 0, 0, 1900 * 4096)
            #expect(try live.events(.purge).map(\.path) == (0..<900).map { "tmp/\($0)" })
            #expect(live.used == 2000)
            live.volume.close(opened)
        }
    }

    /// If the other files that the call needs are opened meanwhile, the chosen files are put back.
    @Test func whatWasChosenIsPutBack() throws {
        try withVolume(settings: Self.settings) { live in
            for number in 0..<2000 { try live.make("tmp/\(number)", blocks: 1) }
            let last = try live.node("tmp/1999")
            let volume = live.volume
            var isOpened = false
            var purge: Purge?
            #expect(throws: Errno.noSpace) {
                try volume.purger.makingRoom(for: last, &purge) { (purge, state) throws(Errno) -> Int? in
                    guard state.capacity.important >= ByteCount(blocks: 2000) else { throw .noSpace }
                    if state.untoldPurges.underWay.count == 1, !isOpened {
                        // An open comes in between two steps.
                        state.tree.open(last)
                        isOpened = true
                    }
                    return state.cover(ByteCount(blocks: 2000), of: last, tid: 1, &purge) ? 1 : nil
                }
            }
            #expect(isOpened)
            volume.openFiles.forgetOpen(last)
            #expect(live.used == 2000)
            #expect(try live.blocks(.storageReclaimable) == 2000)
            #expect(volume.read { $0.untoldPurges.underWay.count } == 0)
            #expect(live.exists("tmp/0"))
            try live.command(.storageReclaim, "all")
            #expect(live.used == 0)
        }
    }

    @Test func theDryRunIsThePurge() throws {
        try withVolume(settings: Self.settings) { live in
            try live.makeDirectory("Library/Caches/a")
            for number in 0..<700 {
                try live.make(["tmp/", "Library/Caches/", "Library/Caches/a/"][number % 3] + "\(number)", blocks: 1)
            }
            try live.make("tmp/empty", blocks: 0)
            for command in ["\(300 * 4096)", "caches", "all"] {
                let handle = ControlHandle(file: .storagePlan, reader: nil)
                try live.volume.controlFiles.write(handle, Array(command.utf8), pid: LiveVolume.tid)
                let planned = String(decoding: handle.content, as: UTF8.self).split(separator: "\n")
                    .compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
                let before = try live.events(.purge).count
                try live.command(.storageReclaim, command)
                let purged = try live.events(.purge).dropFirst(before).compactMap(\.path)
                #expect(planned.count == purged.count && planned.count >= 1)
                #expect(
                    zip(planned, purged).allSatisfy { $0 == $1 }, "\(command): \(planned.prefix(3)) \(purged.prefix(3))"
                )
            }
            #expect(live.used == 0)
        }
    }
}
