import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// The thread that purges under pressure.
struct VolumeReclaimerTests {
    private static let half = "verylow 10%\nlow 25%\nnearlow 30%\ndesired 50%"

    /// Creates a device of 64 blocks, on which low is below 16 free blocks and desired is 32.
    private func withPressure(_ body: (LiveVolume) throws -> Void) throws {
        try withVolume { live in
            try live.command(.storageThresholds, Self.half)
            try live.volume.startThreads()
            defer { live.volume.end() }
            try body(live)
        }
    }

    @Test func purgesUntilDesired() throws {
        try withPressure { live in
            for name in ["a", "b", "c"] { try live.make("tmp/\(name)", blocks: 16) }
            #expect(live.exists("tmp/a"))  // 16 blocks are free: not low yet
            try live.make("Documents/f", blocks: 1)
            try eventually("two purges") { try live.events(.purge).count == 2 }
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "normal\n")
            #expect(try live.events(.purge).map(\.path) == ["tmp/a", "tmp/b"])
            #expect(try live.events(.purge).map(\.trigger) == [.pressure, .pressure])
            #expect(try live.blocks(.storageAvailable) == 47)
        }
    }

    /// The journal has the pressure first, then the purges with their cause, then the end of the pressure.
    @Test func theJournalTellsItInOrder() throws {
        try withPressure { live in
            for name in ["a", "b", "c"] { try live.make("tmp/\(name)", blocks: 16) }
            let before = try live.journal().count
            try live.make("Documents/f", blocks: 1)
            try eventually("the end of it") {
                try live.journal().contains { $0.type == .pressure && $0.reason == "normal" }
            }
            let told = try live.journal().dropFirst(before)
            #expect(told.map(\.type) == [.pressure, .purge, .purge, .pressure])
            #expect(told.map(\.reason) == ["low", "temporary", "temporary", "normal"])
            #expect(told.map(\.cause) == ["Documents/f", "Documents/f", "Documents/f", nil])
            #expect(told.map(\.pid) == [LiveVolume.tid, LiveVolume.tid, LiveVolume.tid, nil])
        }
    }

    /// The write that began the pressure is also the cause of purging files that become purgeable later. If a change to the
    /// device began the pressure, events name only the process.
    @Test func theCauseLastsAsLongAsThePressure() throws {
        try withPressure { live in
            try live.make("Documents/f", blocks: 30)
            try live.make("Documents/g", blocks: 22)
            try live.make("Documents/h", blocks: 1)
            try live.mark("Documents/f", "high")
            try eventually("the marked one") { try live.events(.purge).count == 1 }
            #expect(try live.events(.purge).map(\.cause) == ["Documents/g"])
            try live.make("tmp/a", blocks: 5)
            try live.command(.storageOthers, "\(30 * 4096)")
            let last = try #require(try live.events(.purge).last)
            #expect(last.path == "tmp/a" && last.cause == nil && last.pid == LiveVolume.tid)
        }
    }

    /// A purge by a command is recorded before the change of level that follows from it.
    @Test func aCommandIsToldBeforeTheLevel() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 60)
            try live.command(.storageThresholds, Self.half)
            try live.command(.storageReclaim, "tmp")
            #expect(try live.journal().suffix(2).map(\.type) == [.purge, .pressure])
        }
    }

    @Test func withoutThreadsNothingPurges() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 60)
            try live.command(.storageThresholds, Self.half)
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "veryLow\n")
            #expect(live.exists("tmp/a"))
        }
    }

    @Test func startsWithWhatIsDue() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 60)
            try live.command(.storageThresholds, Self.half)
            try live.volume.startThreads()
            try eventually("the purge") { !live.exists("tmp/a") }
            live.volume.end()
        }
    }

    @Test func whatBecomesPurgeableGoes() throws {
        try withPressure { live in
            try live.make("Documents/f", blocks: 30)
            try live.make("Documents/g", blocks: 22)
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "low\n")
            try live.mark("Documents/f", "high")
            try eventually("the marked one") { !live.exists("Documents/f") }
            #expect(live.exists("Documents/g"))
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "normal\n")
        }
    }

    @Test func aClosedFileGoes() throws {
        try withPressure { live in
            let handle = try live.create("tmp/f")
            try live.write(handle, at: 0, 40 * 4096)
            try live.make("Documents/g", blocks: 20)
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "veryLow\n")
            #expect(live.exists("tmp/f"))
            live.volume.close(handle)
            try eventually("the closed one") { !live.exists("tmp/f") }
        }
    }

    /// A change of capacity returns only once purging under pressure is over, including its announcements.
    @Test func aCommandWaitsForIt() throws {
        let (begun, done, answered) = (Tally(), Tally(), Tally())
        let mayEnd = Gate()
        let kernel = FakeKernel(on: .announcing) {
            begun.add()
            mayEnd.wait(while: 0)  // the kernel takes its time
            done.add()
        }
        try withVolume(port: kernel) { live in
            try live.command(.storageThresholds, Self.half)
            for name in 0..<10 { try live.make("tmp/\(name)", blocks: 4) }
            try live.volume.startThreads()
            let asking = Workers.start(1) { _ in
                try live.command(.storageOthers, "\(20 * 4096)")
                #expect(begun.value > 0 && done.value == begun.value)
                answered.add()
            }
            let waiting = Result {
                try eventually("an announcement") { begun.value > 0 }
                try eventually("an answer, or a command that waits") {
                    answered.value > 0 || live.volume.core.purges.waiters > 0
                }
            }
            #expect(answered.value == 0)
            mayEnd.advance()
            try asking.join()
            try waiting.get()
            #expect(try live.blocks(.storageAvailable) == 32)
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "normal\n")
            // The reclaimer checks once more whether anything is left to do.
            try eventually("the end of its last look") { !live.volume.status().purging }
            live.volume.end()
        }
    }

    @Test func endReturnsUnderPressureWithNothingToPurge() throws {
        try withPressure { live in
            try live.make("Documents/f", blocks: 60)
            try live.command(.storageOthers, "4096")
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "veryLow\n")
        }
    }

    @Test func levelsLastUntilDesired() throws {
        try withVolume { live in
            try live.command(.storageThresholds, Self.half)
            // Each row: blocks that others use, and the level. On 64 blocks the limits are 7 (6.4 rounded up), 16, 20 (19.2)
            // and 32 free.
            let steps: [(Int64, String)] = [
                (44, "normal"), (45, "nearLow"), (33, "nearLow"), (32, "normal"), (49, "low"), (44, "low"),
                (33, "low"), (32, "normal"), (58, "veryLow"), (57, "low"), (48, "low"), (32, "normal"),
            ]
            for (blocks, level) in steps {
                try live.command(.storageOthers, "\(blocks * 4096)")
                #expect(live.volume.controlFiles.text(of: .storagePressure) == level + "\n", "at \(blocks)")
            }
        }
    }

    /// Creates a device of 2000 blocks: 600 marked files of one block, which a purge takes in three steps.
    private func withManyFiles(latency: Int64, _ body: (LiveVolume) throws -> Void) throws {
        try withVolume(settings: { settings in
            settings.total = ByteCount(blocks: 2000)
            settings.thresholds = .off
            settings.purgeLatency = TimeSpan(seconds: latency)
        }) { live in
            try live.makeDirectory("Documents/d")
            try live.mark("Documents/d", "low")
            for number in 0..<600 { try live.make("Documents/d/\(number)", blocks: 1) }
            try body(live)
        }
    }

    /// Thresholds that leave a shortfall of 500 blocks on a device with 1400 free.
    private static let shortOf500 = "verylow=0,low=\(1401 * 4096),nearlow=\(1401 * 4096),desired=\(1900 * 4096)"

    /// A purge that has begun continues, even if a long latency is set meanwhile.
    @Test func aLatencyThatIsSetLaterHoldsNothingUp() throws {
        try withManyFiles(latency: 0) { live in
            try live.command(.storageProfile, "device")
            try live.command(.storageThresholds, Self.shortOf500)
            #expect(live.volume.reclaimer.reclaimOnce())
            #expect(live.used == 344)
            try live.command(.storagePurgeLatency, "1h")
            while live.volume.reclaimer.reclaimOnce() {}
            #expect(live.used == 100)
            // The next purge lags.
            try live.make("Documents/d/next", blocks: 1)
            try live.command(.storageThresholds, "low=100%,nearlow=100%,desired=100%")
            #expect(!live.volume.reclaimer.reclaimOnce() && live.used == 101)
        }
    }

    /// A change waits for a purge that begins at once. It stops waiting when new rules let the purge lag.
    @Test func whatLagsBehindIsNotWaitedFor() throws {
        try withManyFiles(latency: 3600) { live in
            live.volume.core.reclaimerRuns.store(true, ordering: .sequentiallyConsistent)
            let asking = Workers.start(1) { _ in try live.command(.storageThresholds, Self.shortOf500) }
            try eventually("the level") { live.volume.device.level == .low }
            #expect(live.volume.reclaimer.reclaimOnce())
            try live.command(.storageProfile, "device")
            let waiting = Result { try asking.join(within: 10) }
            live.volume.end()
            try waiting.get()
            #expect(live.used == 344)
        }
    }
}
