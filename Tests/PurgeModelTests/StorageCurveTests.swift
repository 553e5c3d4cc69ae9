import Testing

@testable import PurgeModel

/// The curve of a device's numbers: its points are true, and their number is bounded however much changes.
struct StorageCurveTests {
    private static func instant(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    private static func device() -> Device {
        var device = Device(containerID: "00000000-0000-0000-0000-000000000000")
        device.total = ByteCount(64 << 20)
        return device
    }

    private static func numbers(of device: Device) -> StorageCurve.Numbers {
        StorageCurve.Numbers(
            total: device.total, others: device.others, othersPurgeable: device.othersPurgeable, level: device.level,
            ledgers: device.ledgers)
    }

    private static func charge(_ blocks: Int64, _ tier: Tier, _ device: inout Device) {
        device.ledgers[0].charge(ByteCount(blocks: blocks), as: .init(tier: tier))
    }

    /// Ends a change to the device at `moment`, in milliseconds.
    private static func end(_ curve: inout StorageCurve, _ device: Device, _ moment: Int) {
        let now = numbers(of: device)
        if curve.follow(now) { curve.note(now, at: instant(moment), real: instant(moment)) }
    }

    @Test func aPointForEachStep() {
        var (curve, device) = (StorageCurve(), Self.device())
        Self.end(&curve, device, 0)
        Self.charge(5, .caches, &device)
        Self.end(&curve, device, 1)
        Self.end(&curve, device, 2)
        device.others = ByteCount(1)
        Self.end(&curve, device, 3)
        Self.charge(-5, .caches, &device)
        Self.end(&curve, device, 4)
        let points = curve.take()
        #expect(points.map { $0.numbers.used.bytes / 4096 } == [0, 5, 5, 0])
        #expect(points.map { $0.numbers.caches.bytes / 4096 } == [0, 5, 5, 0])
        #expect(points.map { $0.numbers.others.bytes } == [0, 0, 1, 1])
        #expect(points.map(\.simulated) == [0, 1, 3, 4].map(Self.instant))
        #expect(curve.take().isEmpty)
    }

    /// A move of bytes to another tier adds a point, although the total use stays the same.
    @Test func tiersHavePoints() {
        var (curve, device) = (StorageCurve(), Self.device())
        Self.charge(3, .temporary, &device)
        Self.end(&curve, device, 0)
        Self.charge(-3, .temporary, &device)
        Self.charge(3, .persistent, &device)
        Self.end(&curve, device, 1)
        #expect(curve.take().map { $0.numbers.persistent.bytes / 4096 } == [0, 3])
    }

    /// In each of 100 random walks, the number of small changes exceeds the maximum of points. The curve still records the most
    /// and the least used, with the tiers of that moment.
    @Test func extremesAreTold() {
        for seed in UInt64(0)..<100 {
            var random = SeededGenerator(seed: seed)
            var (curve, device) = (StorageCurve(), Self.device())
            var walk: [Int64: Set<Int64>] = [:]
            var (caches, files) = (Int64(1000), Int64(1000))
            Self.charge(caches, .caches, &device)
            Self.charge(files, .persistent, &device)
            var points: [StorageCurve.Point] = []
            for moment in 0..<1000 + random.below(4000) {
                let blocks = Int64(random.below(7)) - 3
                if random.oneIn(2) {
                    caches += blocks
                    Self.charge(blocks, .caches, &device)
                } else {
                    files += blocks
                    Self.charge(blocks, .persistent, &device)
                }
                walk[caches + files, default: []].insert(caches)
                Self.end(&curve, device, moment)
                if random.oneIn(700) { points += curve.take() }
            }
            curve.note(Self.numbers(of: device), at: Self.instant(9999), real: Self.instant(9999), difference: .zero)
            points += curve.take()
            let told = points.map(\.numbers)
            #expect(told.map(\.used).max() == walk.keys.max().map { ByteCount(blocks: $0) }, "seed \(seed)")
            #expect(told.map(\.used).min() == walk.keys.min().map { ByteCount(blocks: $0) }, "seed \(seed)")
            for numbers in told {
                #expect(walk[numbers.used.wholeBlocks]?.contains(numbers.caches.wholeBlocks) == true, "seed \(seed)")
            }
            #expect(told.last == Self.numbers(of: device), "seed \(seed)")
        }
    }

    /// A program that keeps writing and removing the same data soon adds no more points.
    @Test func isBounded() {
        var (curve, device) = (StorageCurve(), Self.device())
        var points = 0
        for moment in 0..<100_000 {
            Self.charge(moment % 2 == 0 ? 1000 : -1000, .temporary, &device)
            if moment.isMultiple(of: 100) { points += curve.take().count }
            Self.end(&curve, device, moment)
        }
        points += curve.take().count
        #expect((1000...11 * StorageCurve.pointsPerStep).contains(points), "\(points)")
    }

    /// The extremes survive a long time in which the journal cannot be written.
    @Test func waitingIsBounded() {
        var (curve, device) = (StorageCurve(), Self.device())
        for moment in 0..<10_000 {
            // Each change of `others`, however small, adds a point.
            device.others = ByteCount(Int64(moment == 777 ? 0 : moment == 4003 ? 60 << 20 : 4096 + moment % 2))
            if moment == 1001 { Self.charge(500, .persistent, &device) }
            Self.end(&curve, device, moment)
            if moment == 1001 { Self.charge(-500, .persistent, &device) }
        }
        let told = curve.take().map(\.numbers)
        #expect(told.count <= StorageCurve.mostWaiting)
        #expect(told.map(\.used).max() == ByteCount(blocks: 500))
        #expect(told.map(\.others).max() == ByteCount(60 << 20) && told.map(\.others).min() == .zero)
    }

    /// If `difference` is zero, as at the end of a mount, a point is always added. Otherwise, if no other number has changed, a
    /// point is added only if the use was at least `difference` away from the last point at some moment since then.
    @Test func whatIsWorthAPoint() {
        var (curve, device) = (StorageCurve(), Self.device())
        var counts: [Int] = []
        func note(_ differences: Int64...) {
            for difference in differences {
                curve.note(
                    Self.numbers(of: device), at: Self.instant(1), real: Self.instant(1),
                    difference: ByteCount(difference))
                counts.append(curve.take().count)
            }
        }
        func charge(_ bytes: Int64) -> Bool {
            device.ledgers[0].charge(ByteCount(bytes), as: .init(tier: .caches))
            return curve.follow(Self.numbers(of: device))
        }
        note(1, 1, 0)
        var isDue = charge(100)
        note(101, 100)
        isDue = charge(50) || isDue
        isDue = charge(-50) || isDue
        // One point for the earlier maximum, and one for the present.
        note(1)
        #expect(counts == [1, 0, 1, 0, 1, 2])
        #expect(!isDue)
    }
}
