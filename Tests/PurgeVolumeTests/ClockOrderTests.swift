import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Last uses are in the device's time, however they are found.
struct ClockOrderTests {
    private func uses(_ volume: Volume, _ names: [String]) throws -> [Instant] {
        let folder = try volume.lookup("tmp", in: volume.root, caller: LiveVolume.caller).node
        defer { volume.forget(folder, count: 1) }
        return try names.map { name in
            let node = try volume.lookup(name, in: folder, caller: LiveVolume.caller).node
            volume.forget(node, count: 1)
            return node.lastUse
        }
    }

    /// What was used after an advance outlasts what was not, whatever their stamps.
    @Test func whatIsUsedAfterwardsStays() throws {
        try withVolume { live in
            for name in ["a", "b", "c"] { try live.make("tmp/\(name)", blocks: 1) }
            try live.advance(days: 21)
            live.volume.close(try live.open("tmp/a"))
            try live.make("tmp/d", blocks: 1)
            try live.setTimes("tmp/d", modification: LiveVolume.ago(days: 100))
            try live.command(.storageReclaim, "8192")
            #expect(["a", "b", "c", "d"].map { live.exists("tmp/\($0)") } == [true, false, false, true])
        }
    }

    /// A scan knows some uses from the journal, and the others from the files, which have real time.
    @Test func aScanPutsStampsAndTheJournalInOneOrder() throws {
        try withVolume { live in
            try live.make("tmp/old", blocks: 1)
            try live.advance(days: 21)
            try live.make("tmp/journaled", blocks: 1)
            #expect(live.volume.keeper.saveLastUses())
            try live.make("tmp/later", blocks: 1)
            try live.make("tmp/aged", blocks: 1)
            try live.advance(days: 3)
            try live.make("tmp/last", blocks: 1)
            let names = ["old", "journaled", "later", "aged", "last"]
            let known = try uses(live.volume, names)
            let found = try uses(try live.scanned(), names)
            #expect(known == known.sorted() && found == found.sorted() && Set(found).count == found.count)
            // A stamp can be some milliseconds behind, and the time at which the use was noted ahead.
            for (a, b) in zip(known, found) { #expect(abs(a.nanoseconds - b.nanoseconds) < 2_000_000_000) }
        }
    }

    /// A time that an app has set is as far back for a scan as it is for the app.
    @Test func aSetTimeIsAUseAtThatTime() throws {
        try withVolume(settings: { $0.clock = 21 * 86400 }) { live in
            for (name, days) in [("a", 5), ("b", 30), ("c", -5)] as [(String, Int64)] {
                try live.make("tmp/\(name)", blocks: 1)
                try live.setTimes("tmp/\(name)", modification: LiveVolume.ago(days: days))
            }
            // Without the birth of the file, which is later.
            let born = try uses(try live.scanned(), ["a", "b", "c"])
            let now = live.volume.clock.now
            for use in born { #expect(abs(use.nanoseconds - now.nanoseconds) < 5_000_000_000) }
        }
    }

    /// Returns when it was opened. The descriptors are gone with the handles, so these are not handed out.
    private func openedAndMapped(_ live: LiveVolume, _ node: Node) throws -> Instant {
        let handles = try [O_RDONLY, O_RDWR].map { flags in
            try live.volume.open(node, flags: flags, caller: LiveVolume.caller, offersPassthrough: true)
        }
        defer { for handle in handles { live.volume.close(handle) } }
        #expect(handles[1].mode == .passthroughDirect)
        let opened = node.lastUse
        try live.advance(days: 3)
        let file = try OpenFile(live.stored("tmp/f"), O_RDWR)
        defer { file.close() }
        let address = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0)
        try #require(address != MAP_FAILED)
        address?.storeBytes(of: 7, as: UInt8.self)
        munmap(address, 4096)
        return opened
    }

    /// Stores through a mapping that the kernel serves by itself show in the file's stamp.
    @Test func aMappedWriteIsAUseInTheTimeOfTheDevice() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 40)
            try live.make("tmp/g", blocks: 1)
            try live.advance(days: 21)
            let node = try live.node("tmp/f")
            let opened = try openedAndMapped(live, node)
            try live.awaitMappings(left: 0)
            #expect(node.opens == 0)
            let used = node.lastUse.nanoseconds - opened.nanoseconds
            #expect(used >= 3 * 86400 * 1_000_000_000 && node.lastUse <= live.volume.clock.now)
        }
    }
}
