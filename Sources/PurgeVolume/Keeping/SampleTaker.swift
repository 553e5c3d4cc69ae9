import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// Has the journal write down how full the device is, when that has changed.
struct SampleTaker: VolumeFamily {
    /// A change of used, total or others by this part of total is worth a sample, and so is another level.
    private static let part: Int64 = 1000

    let core: VolumeCore
    let journal: Journal
    private(set) var last: StorageSample?

    init(core: VolumeCore, journal: Journal) {
        self.core = core
        self.journal = journal
    }

    /// Takes one if it differs from the last; `always` for the first and the last of a mount.
    mutating func take(always: Bool = false) {
        guard !journal.isForReading, read({ $0.device.journal.recordsEvents }) else { return }
        let sample = read { StorageSample(of: $0.device, at: clock.now, real: Instant(nanoseconds: System.now())) }
        if !always, let last, !sample.differs(from: last, by: Self.part) { return }
        journal.hold(sample)
        last = sample
    }
}

extension StorageSample {
    fileprivate init(of device: borrowing Device, at now: Instant, real: Instant) {
        func bytes(_ tier: Tier) -> ByteCount { device.ledgers.reduce(.zero) { $0 + $1.usage(of: tier).bytes } }
        self.init(
            time: now.iso8601, realTime: real.iso8601, total: device.total, others: device.others,
            othersPurgeable: device.othersPurgeable, used: bytes(.temporary) + bytes(.caches) + bytes(.persistent),
            temporary: bytes(.temporary), caches: bytes(.caches), persistent: bytes(.persistent),
            pressure: device.level)
    }

    fileprivate func differs(from last: StorageSample, by part: Int64) -> Bool {
        let step = ByteCount(max(1, max(total, last.total).bytes / part))
        func differs(_ a: ByteCount, _ b: ByteCount) -> Bool { max(a, b) - min(a, b) >= step }
        return pressure != last.pressure || differs(used, last.used) || differs(total, last.total)
            || differs(others, last.others)
    }
}
