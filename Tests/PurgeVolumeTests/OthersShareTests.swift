import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// The share of others in purges that take more than one step of the lock: it is one of all that is short, not of what
/// each step finds short.
struct OthersShareTests {
    /// 2000 blocks: 900 files of one block in tmp, and 1000 of others that can be freed.
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
            try live.allocate(handle, 0, 0, 900 * 4096)  // 100 are free
            try expect(live, others: 400, files: 400, trigger: .importantWrite)
        }
    }

    @Test func aSmallerDevice() throws {
        try withManyFiles { live in
            try live.command(.storageTotal, "\(1101 * 4096)")
            // An odd number: 799 are short, and half of them is 400 blocks.
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

    /// What is important is the same whatever the share, and all of it can be written.
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
