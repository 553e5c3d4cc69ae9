import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Last uses are in the device's time, whatever their source.
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

    /// A file that was used after an advance outlasts the others, whatever their stamps.
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

    /// A scan keeps the order of uses, although it takes some from the journal, and the others from stamps, which are in real
    /// time.
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
            // A stamp can lag by some milliseconds, and the noted time of a use can be ahead of it.
            for (a, b) in zip(known, found) { #expect(abs(a.nanoseconds - b.nanoseconds) < 2_000_000_000) }
        }
    }

    /// Whatever time an app has set, a scan dates the use neither before the file's birth nor in the future.
    @Test func aSetTimeIsAUseAtThatTime() throws {
        try withVolume(settings: { $0.clock = 21 * 86400 }) { live in
            for (name, days) in [("a", 5), ("b", 30), ("c", -5)] as [(String, Int64)] {
                try live.make("tmp/\(name)", blocks: 1)
                try live.setTimes("tmp/\(name)", modification: LiveVolume.ago(days: days))
            }
            // The files were born just now, so their uses cannot be earlier.
            let born = try uses(try live.scanned(), ["a", "b", "c"])
            let now = live.volume.clock.now
            for use in born { #expect(abs(use.nanoseconds - now.nanoseconds) < 5_000_000_000) }
        }
    }

    /// Opens the file, writes through a mapping three days later, and returns the time of the opening. Handles own the
    /// descriptors, so none of them leaves this function.
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

    /// A write through a mapping that the kernel serves alone is a use. Its time is the file's stamp, in the device's time.
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
