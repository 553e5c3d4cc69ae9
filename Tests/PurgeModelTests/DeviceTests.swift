import PurgeModel
import Testing

/// The effects of each change to a device. All sizes are blocks.
@Suite struct DeviceTests {
    /// Creates a device of 1000 blocks, of which `others` and `used` are in use, with thresholds at 50, 100, 105 and 110.
    private static func device(
        others: Int64 = 0, purgeable: Int64 = 0, used: Int64 = 0, thresholds: ThresholdSettings = .documented
    ) -> Device {
        var device = Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
        device.total = ByteCount(blocks: 1000)
        device.others = ByteCount(blocks: others)
        device.othersPurgeable = ByteCount(blocks: purgeable)
        device.thresholds = thresholds
        device.ledgers[0].enter(ByteCount(blocks: used), as: .init(tier: .persistent))
        _ = device.judgePressure()
        return device
    }

    private static func blocks(_ count: Int64) -> SizeChange { .to(ByteCount(blocks: count)) }
    private static func more(_ count: Int64) -> SizeChange { .by(ByteCount(blocks: count)) }

    private static let now = Instant(seconds: 1_795_348_800, nanoseconds: 0)
    private static func told(free: Int64) -> DeviceEffect {
        .event(
            Event(
                time: "2026-11-22T12:00:00.000Z", type: .capacity, bytes: ByteCount(blocks: free), reason: "as told",
                pid: 7))
    }
    private static func level(_ old: PressureLevel, _ new: PressureLevel, free: Int64) -> DeviceEffect {
        .level(LevelChange(from: old, to: new, free: ByteCount(blocks: free)))
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var device: Device
        var change: DeviceChange
        var effects: [DeviceEffect]

        init(_ name: String, _ device: Device, _ change: DeviceChange, _ effects: [DeviceEffect]) {
            (testDescription, self.device, self.change, self.effects) = (name, device, change, effects)
        }
    }

    private static let table: [Row] = [
        Row("more room", device(used: 500), .total(blocks(2000)), [told(free: 1500), .save]),
        Row("the same", device(used: 500), .others(blocks(0)), [told(free: 500), .save]),
        Row(
            "others enter near low", device(used: 500), .others(more(396)),
            [told(free: 104), level(.normal, .nearLow, free: 104), .save]),
        Row(
            "others enter low", device(used: 500), .others(more(401)),
            [told(free: 99), level(.normal, .low, free: 99), .save, .purge(.pressure)]),
        Row(
            "others enter very low", device(used: 500), .others(blocks(451)),
            [told(free: 49), level(.normal, .veryLow, free: 49), .save, .purge(.pressure)]),
        Row(
            "low lasts until desired", device(others: 401, used: 500), .others(more(-10)),
            [told(free: 109), .save, .purge(.pressure)]),
        Row(
            "desired ends low", device(others: 401, used: 500), .others(more(-11)),
            [told(free: 110), level(.low, .normal, free: 110), .save]),
        Row(
            "a lower total that what is used still fits", device(used: 500), .total(blocks(500)),
            [told(free: 0), level(.normal, .veryLow, free: 0), .save, .purge(.pressure)]),
        Row(
            "a lower total that it does not fit", device(others: 100, used: 500), .total(more(-500)),
            [told(free: 0), level(.normal, .veryLow, free: 0), .purge(.capacity), .save, .purge(.pressure)]),
        Row(
            "without thresholds only what does not fit", device(used: 500, thresholds: .off), .total(blocks(499)),
            [told(free: 0), .purge(.capacity), .save]),
        Row(
            "purgeable others", device(others: 100, used: 500), .othersPurgeable(blocks(100)),
            [told(free: 400), .save]),
        Row("a share of others", device(others: 100, used: 500), .othersShare(7), [told(free: 400), .save]),
        Row(
            "thresholds overtake what is free", device(used: 500),
            .thresholds(
                ThresholdSettings.change(veryLow: 100, low: 501, nearLow: 502, desired: 600)),
            [told(free: 500), level(.normal, .low, free: 500), .save, .purge(.pressure)]),
        Row(
            "the largest total", device(used: 500), .total(.to(ByteCount(1 << 60))),
            [told(free: (1 << 48) - 500), .save]),
        Row(
            "the largest others", device(used: 500), .others(.to(ByteCount(1 << 60))),
            [told(free: 0), level(.normal, .veryLow, free: 0), .purge(.capacity), .save, .purge(.pressure)]),
        Row(
            "no thresholds end all pressure", device(used: 960), .thresholds(ThresholdSettings.none),
            [told(free: 40), level(.veryLow, .normal, free: 40), .save]),
        Row(
            "three days later", device(used: 960), .clock(TimeSpan(seconds: 259_200)),
            [
                .event(Event(time: "2026-11-22T12:00:00.000Z", type: .clock, reason: "as told", pid: 7)),
                .clock(secondsAhead: 259_200), .forgetAttributes, .save,
            ]),
    ]

    @Test(arguments: table) func whatAChangeCallsFor(row: Row) throws {
        var device = row.device
        #expect(try device.apply(row.change, as: "as told", by: 7, at: Self.now) == row.effects)
        #expect(device.revision == row.device.revision + 1)
        let changesLevel = row.effects.contains { if case .level = $0 { true } else { false } }
        #expect(device.levelChanges == row.device.levelChanges + (changesLevel ? 1 : 0))
    }

    @Test(
        arguments: [
            (.total(.by(ByteCount(-1 << 40))), .outOfRange), (.others(.by(ByteCount(-8193))), .outOfRange),
            (.total(.by(ByteCount(1 << 60))), .outOfRange), (.othersPurgeable(.to(ByteCount(8193))), .moreThanOthers),
            (.othersShare(101), .outOfRange), (.othersShare(-1), .outOfRange),
            (.thresholds(ThresholdSettings.change(veryLow: 2, low: 1, nearLow: 3, desired: 4)), .notRising),
            (.clock(TimeSpan(seconds: (1 << 32) + 1)), .outOfRange), (.clock(TimeSpan(seconds: -1)), .outOfRange),
            (.clock(TimeSpan(seconds: .max)), .outOfRange),
        ] as [(DeviceChange, DeviceRefusal)])
    func aRefusedChangeLeavesAllAsItWas(change: DeviceChange, refusal: DeviceRefusal) {
        let before = Self.device(others: 2, purgeable: 1)
        var device = before
        #expect(throws: refusal) { try device.apply(change, as: "", by: 0, at: Self.now) }
        #expect(device == before)
    }

    @Test func totalIsRoundedDownAndTheOthersUp() throws {
        var device = Self.device()
        _ = try device.apply(.total(.to(ByteCount(8191))), as: "", by: 0, at: Self.now)
        _ = try device.apply(.others(.to(ByteCount(4097))), as: "", by: 0, at: Self.now)
        _ = try device.apply(.othersPurgeable(.to(ByteCount(1))), as: "", by: 0, at: Self.now)
        #expect([device.total, device.others, device.othersPurgeable].map(\.bytes) == [4096, 8192, 4096])
    }

    /// Counters stop at the largest number that device.json may contain.
    @Test func countersEndWhereAFileMayHaveThem() throws {
        var device = Self.device()
        device.counters.refusedWrites = (1 << 60) - 1
        for _ in 0..<3 {
            device.notePurged(files: 1 << 59, bytes: ByteCount(1 << 60))
            device.noteRefused()
        }
        let (counters, most) = (device.counters, Int64(1) << 60)
        #expect(counters.purgedFiles == most && counters.purgedBytes == most && counters.refusedWrites == most)
        try device.validate()
    }

    @Test func purgeableOthersShrinkWithOthers() throws {
        var device = Self.device(others: 10, purgeable: 8)
        _ = try device.apply(.others(Self.blocks(5)), as: "", by: 0, at: Self.now)
        #expect(device.othersPurgeable == ByteCount(blocks: 5))
    }

    @Test func theClockAdvancesFromWhereItIs() throws {
        var device = Self.device()
        _ = try device.apply(.clock(TimeSpan(seconds: 60)), as: "", by: 0, at: Self.now)
        let effects = try device.apply(.clock(TimeSpan(seconds: 5)), as: "", by: 0, at: Self.now)
        #expect(device.clock == 65 && effects.contains(.clock(secondsAhead: 65)))
    }

    @Test func percentagesFollowTheTotalAndAreOvertakenBySizes() throws {
        var device = Self.device()
        device.thresholds.low = .size(ByteCount(blocks: 100))
        _ = try device.apply(.total(Self.blocks(100)), as: "", by: 0, at: Self.now)
        #expect(
            [device.limits.veryLow, device.limits.low, device.limits.nearLow, device.limits.desired].map(\.wholeBlocks)
                == [5, 100, 100, 100])
    }

    @Test func whatAPurgeIsAfter() {
        var device = Self.device(others: 600, used: 500)
        #expect(device.goal(for: .capacity) == .bytes(ByteCount(blocks: 100)))
        #expect(device.goal(for: .pressure) == .bytes(ByteCount(blocks: 210)))
        device.takeFromOthers(ByteCount(blocks: 100))
        #expect(device.goal(for: .capacity) == nil)
        #expect(device.goal(for: .pressure) == .bytes(ByteCount(blocks: 110)))
        device.takeFromOthers(ByteCount(blocks: 110))
        _ = device.judgePressure()
        #expect(device.goal(for: .pressure) == nil)
        #expect([.importantWrite, .policy, .reboot, .command].allSatisfy { device.goal(for: $0) == nil })
    }

    @Test func nothingIsReclaimedWhereAllThatCouldGoIsHeld() {
        var device = Self.device(used: 960)
        #expect(!device.shouldReclaim)
        device.ledgers[0].offer(ByteCount(blocks: 10), as: .caches)
        #expect(device.shouldReclaim)
        device.ledgers[0].hold(ByteCount(blocks: 10), as: .caches)
        #expect(!device.shouldReclaim)
        (device.others, device.othersPurgeable) = (ByteCount(blocks: 1), ByteCount(blocks: 1))
        #expect(device.shouldReclaim)
    }

    /// Capacity covers all containers together.
    @Test func capacityAddsTheContainersUp() {
        var device = Self.device(others: 100, used: 50)
        var second = Ledger()
        second.enter(ByteCount(blocks: 7), as: .init(tier: .caches))
        second.offer(ByteCount(blocks: 7), as: .caches)
        device.ledgers.append(second)
        #expect(device.capacity.used == ByteCount(blocks: 57))
        #expect(device.capacity.free == ByteCount(blocks: 843))
        #expect(device.capacity.reclaimable == ByteCount(blocks: 7))
    }

    /// Counters and sizes do not overflow, although a store may contain large numbers.
    @Test func numbersEndAtTheEndOfTheirRange() {
        var device = Self.device(others: 10, purgeable: 10)
        device.counters.purgedBytes = 1 << 60
        device.counters.refusedWrites = 1 << 60
        device.notePurged(files: 1, bytes: ByteCount(4096))
        device.noteRefused()
        #expect(device.counters.purgedBytes == 1 << 60 && device.counters.refusedWrites == 1 << 60)
        #expect(device.counters.purgedFiles == 1)
        device.total = ByteCount(1 << 60)
        device.others = ByteCount(1 << 60)
        device.ledgers[0].enter(ByteCount(.max), as: .init(tier: .persistent))
        #expect(device.capacity.free == .zero)
        #expect(device.judgePressure()?.new == .veryLow)
    }

    @Test func whatIsToBeSavedSoon() throws {
        var device = Self.device(others: 10, purgeable: 10)
        var seen = device.revision
        func isUnsaved(after change: () -> Void) -> Bool {
            change()
            defer { seen = device.revision }
            return device.revision != seen
        }
        #expect(isUnsaved { device.takeFromOthers(ByteCount(4096)) })
        #expect(isUnsaved { device.returnToOthers(ByteCount(4096)) })
        #expect(isUnsaved { device.notePurged(files: 1, bytes: .zero) })
        #expect(!isUnsaved { device.takeFromOthers(.zero) })
        #expect(!isUnsaved { device.noteRefused() })
        #expect(!isUnsaved { _ = device.judgePressure() })
    }
}

extension ThresholdSettings {
    fileprivate static let none = change(veryLow: 0, low: 0, nearLow: 0, desired: 0)

    /// Creates a change to the thresholds, in blocks.
    fileprivate static func change(veryLow: Int64, low: Int64, nearLow: Int64, desired: Int64) -> ThresholdChange {
        let blocks: [ThresholdLevel: Int64] = [.veryLow: veryLow, .low: low, .nearLow: nearLow, .desired: desired]
        return ThresholdChange(blocks.mapValues { .size(ByteCount(blocks: $0)) })
    }
}
