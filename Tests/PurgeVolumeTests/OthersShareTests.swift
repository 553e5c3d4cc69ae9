import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// The share of others in purges that take the lock more than once: it is a share of the whole shortfall, not of each step's.
struct OthersShareTests {
    /// Creates a device of 2000 blocks: 900 files of one block in tmp, and 1000 blocks of others, all purgeable.
    private func withManyFiles(_ body: (LiveVolume) throws -> Void) throws {
        try withVolume(settings: { settings in
            settings.total = ByteCount(blocks: 2000)
            settings.thresholds = .off
        }) { live in
            for number in 0..<900 { try live.make("tmp/\(number)", blocks: 1) }
            try live.command(.storageOthers, "\(1000 * 4096)")
            try live.command(.storageOthersPurgeable, "\(1000 * 4096)")
            try live.command(.storageOthersShare, "50%")
            try body(live)
        }
    }

    private func expect(_ live: LiveVolume, others: Int64, files: Int, trigger: PurgeTrigger) throws {
        let events = try live.events(.purge)
        let fromOthers = events.filter { $0.path == nil }
        #expect(fromOthers.compactMap(\.bytes) == [ByteCount(blocks: others)])
        #expect(events.count - fromOthers.count == files)
        #expect(events.allSatisfy { $0.trigger == trigger })
        #expect(try live.blocks(.storageOthersPurgeable) == 1000 - others)
    }

    @Test func aCommand() throws {
        try withManyFiles { live in
            try live.command(.storageReclaim, "\(800 * 4096)")
            try expect(live, others: 400, files: 400, trigger: .command)
        }
    }

    @Test func aWrite() throws {
        try withManyFiles { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.allocate(handle, 0, 0, 900 * 4096)  // 100 blocks are free
            try expect(live, others: 400, files: 400, trigger: .importantWrite)
        }
    }

    @Test func aSmallerDevice() throws {
        try withManyFiles { live in
            try live.command(.storageTotal, "\(1101 * 4096)")
            // The shortfall is an odd number, 799 blocks, and its half is rounded up to 400.
            try expect(live, others: 400, files: 399, trigger: .capacity)
        }
    }

    @Test func pressure() throws {
        try withManyFiles { live in
            try live.volume.startThreads()
            defer { live.volume.end() }
            try live.command(.storageThresholds, "verylow=0,low=800K,nearlow=800K,desired=\(900 * 4096)")
            try expect(live, others: 400, files: 400, trigger: .pressure)
        }
    }

    /// Creates a device of 2000 blocks in profile `device`: 600 files of one block in Library/Caches, 200 marked ones in
    /// Documents, and 1000 blocks of others. Others give 300 of a shortfall of 1000 blocks; then all of Library/Caches goes,
    /// and 100 marked files.
    private func withManyCaches(_ trigger: PurgeTrigger, _ purge: (LiveVolume) throws -> Void) throws {
        try withVolume(settings: { settings in
            settings.total = ByteCount(blocks: 2000)
            settings.thresholds = .off
            settings.purgeLatency = TimeSpan(seconds: 0)
        }) { live in
            for number in 0..<600 { try live.make("Library/Caches/\(number)", blocks: 1) }
            try live.mark("Documents", "low")
            for number in 0..<200 { try live.make("Documents/\(number)", blocks: 1) }
            try live.command(.storageProfile, "device")
            try live.command(.storageOthers, "\(1000 * 4096)")
            try live.command(.storageOthersPurgeable, "\(1000 * 4096)")
            try live.command(.storageOthersShare, "30%")
            try purge(live)
            try expect(live, others: 300, files: 700, trigger: trigger)
            #expect(live.volume.status().tiers.caches.files == 0)
        }
    }

    @Test func aCommandThatTakesAllOfCaches() throws {
        try withManyCaches(.command) { live in try live.command(.storageReclaim, "\(1000 * 4096)") }
    }

    @Test func aSmallerDeviceThatTakesAllOfCaches() throws {
        try withManyCaches(.capacity) { live in try live.command(.storageTotal, "\(800 * 4096)") }
    }

    @Test func pressureThatTakesAllOfCaches() throws {
        try withManyCaches(.pressure) { live in
            try live.volume.startThreads()
            defer { live.volume.end() }
            let limit = 201 * 4096  // 200 blocks are free
            try live.command(
                .storageThresholds, "verylow=\(limit),low=\(limit),nearlow=\(limit),desired=\(1200 * 4096)")
        }
    }

    /// A share that one purge left to files, but could not free there, does not carry over to the next purge.
    @Test func eachPurgeHasItsShare() throws {
        try withVolume(settings: { settings in
            settings.total = ByteCount(blocks: 1000)
            settings.thresholds = .off
        }) { live in
            try live.command(.storageOthers, "\(500 * 4096)")
            try live.command(.storageOthersPurgeable, "\(400 * 4096)")
            try live.command(.storageOthersShare, "50%")
            try live.volume.startThreads()
            defer { live.volume.end() }
            for number in 0..<10 { try live.make("tmp/a\(number)", blocks: 1) }
            // 490 blocks are free. For a shortfall of 100, others give 50, the files 10, and others the remaining 40.
            let thresholds = "verylow=0,low=\(491 * 4096),nearlow=\(491 * 4096),desired=\(590 * 4096)"
            try live.command(.storageThresholds, thresholds)
            #expect(try live.blocks(.storageOthersPurgeable) == 310)
            try live.command(.storageThresholds, "off")
            for number in 0..<100 { try live.make("tmp/b\(number)", blocks: 1) }
            // The purge left 590 blocks free, and the new files leave 490 again. Now others give 50, and the files 50.
            try live.command(.storageThresholds, thresholds)
            #expect(try live.blocks(.storageOthersPurgeable) == 260)
            #expect(live.volume.status().tiers.temporary.files == 50)
        }
    }

    /// Important is the same whatever the share, and all of it can be written.
    @Test(arguments: [0, 1, 50, 99, 100]) func theNumberIsTheTruth(percent: Int) throws {
        try withVolume { live in
            for name in ["tmp/a", "Library/Caches/c"] { try live.make(name, blocks: 7) }
            try live.make("Documents/kept", blocks: 3)
            try live.command(.storageOthers, "\(20 * 4096)")
            try live.command(.storageOthersPurgeable, "\(13 * 4096)")
            try live.command(.storageOthersShare, "\(percent)")
            #expect(try live.blocks(.storageImportant) == 64 - 7 - 3)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            #expect(try live.write(handle, at: 0, 54 * 4096) == 54 * 4096)
            #expect(throws: Errno.noSpace) { try live.write(handle, at: 54 * 4096, 1) }
            #expect(try live.blocks(.storageOthers) == 7 && live.used == 57)
        }
    }
}
