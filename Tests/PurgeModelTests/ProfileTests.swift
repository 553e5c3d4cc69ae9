import PurgeModel
import Testing

/// The differences of profile `device` from `documented`. All sizes are blocks.
@Suite struct ProfileTests {
    private static let start = Instant(seconds: 1_795_348_800, nanoseconds: 0)  // 2026-11-22T12:00:00Z

    /// Creates a device of 1000 blocks with thresholds at 50, 100, 105 and 110.
    private static func device(
        others: Int64 = 0, purgeable: Int64 = 0, used: Int64 = 0, isRunning: Bool = false,
        _ files: [PurgeClass: Int64] = [:]
    ) throws -> Device {
        var device = Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
        var settings = SettingsChange()
        settings.total = ByteCount(blocks: 1000)
        (settings.others, settings.othersPurgeable) = (ByteCount(blocks: others), ByteCount(blocks: purgeable))
        try device.take(settings)
        _ = try device.apply(.profile(.device), as: "", by: 0, at: start)
        device.app = isRunning ? .foreground : .terminated
        device.ledgers[0].enter(ByteCount(blocks: used), as: .init(tier: .persistent))
        for (each, blocks) in files { device.ledgers[0].offer(ByteCount(blocks: blocks), as: each) }
        _ = device.judgePressure()
        return device
    }

    private static let files: [PurgeClass: Int64] = [
        .temporary: 30, .caches: 40, .low: 3, .medium: 5, .high: 7,
    ]

    private static func after(_ seconds: Int64) -> Instant { start.advanced(by: TimeSpan(seconds: seconds)) }

    private static func limits(_ device: Device) -> [Int64] {
        let limits = device.limits
        return [limits.veryLow, limits.low, limits.nearLow, limits.desired].map(\.wholeBlocks)
    }

    @Test(
        arguments: [
            // 5 %, 10 %, 10.5 % and 11 % of 1000 blocks, of 10 GiB, and of 64 GiB, there capped at 512 MiB, 1, 1.1 and 1.25 GiB.
            (1000, [50, 100, 105, 110]), (2_621_440, [131_072, 262_144, 275_252, 288_359]),
            (16_777_216, [131_072, 262_144, 288_359, 327_680]),
        ] as [(Int64, [Int64])])
    func thresholdsAreCapped(total: Int64, expected: [Int64]) throws {
        var device = try Self.device()
        _ = try device.apply(.total(.to(ByteCount(blocks: total))), as: "", by: 0, at: Self.start)
        #expect(Self.limits(device) == expected)
    }

    @Test func thresholdsThatWereSetStay() throws {
        var device = Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
        let half = try #require(ThresholdChange(text: "desired=50%,verylow=1G"))
        _ = try device.apply(.thresholds(half), as: "", by: 0, at: Self.start)
        _ = try device.apply(.profile(.device), as: "", by: 0, at: Self.start)
        #expect(Self.limits(device) == [262_144, 262_144, 288_359, 8_388_608])
        _ = try device.apply(.profile(.documented), as: "", by: 0, at: Self.start)
        // 10 % and 10.5 % of 16777216 blocks, rounded up.
        #expect(Self.limits(device) == [262_144, 1_677_722, 1_761_608, 8_388_608])
    }

    /// `default` resets all thresholds to the defaults of the profile.
    @Test(arguments: [Profile.documented, .device]) func thresholdsOfTheProfile(profile: Profile) throws {
        var device = Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
        _ = try device.apply(.profile(profile), as: "", by: 0, at: Self.start)
        let limits = Self.limits(device)
        for text in ["verylow=0,low=64K", "off"] {
            _ = try device.apply(.thresholds(try #require(ThresholdChange(text: text))), as: "", by: 0, at: Self.start)
            #expect(Self.limits(device) != limits)
            let back = try #require(ThresholdChange(text: "default"))
            _ = try device.apply(.thresholds(back), as: "", by: 0, at: Self.start)
            #expect(Self.limits(device) == limits && device.thresholds == profile.thresholds)
        }
    }

    struct Row: Sendable {
        var others: Int64
        var isRunning: Bool
        var free, important, opportunistic: Int64
    }

    /// 600 blocks are used, 85 of them by purgeable files. 70 of these 85 are in caches and tmp, which stay while the app is in
    /// the foreground. Other apps have 30 purgeable blocks.
    @Test(arguments: [
        Row(others: 30, isRunning: false, free: 370, important: 485, opportunistic: 343),
        Row(others: 30, isRunning: true, free: 370, important: 415, opportunistic: 303),
        Row(others: 280, isRunning: false, free: 120, important: 235, opportunistic: 93),
        Row(others: 380, isRunning: false, free: 20, important: 135, opportunistic: 0),
        Row(others: 380, isRunning: true, free: 20, important: 65, opportunistic: 0),
        Row(others: 420, isRunning: false, free: 0, important: 95, opportunistic: 0),
    ])
    func capacities(row: Row) throws {
        let device = try Self.device(
            others: row.others, purgeable: 30, used: 600, isRunning: row.isRunning, Self.files)
        let capacity = device.capacity
        #expect(capacity.free.wholeBlocks == row.free)
        #expect(capacity.important.wholeBlocks == row.important)
        #expect(capacity.opportunistic.wholeBlocks == row.opportunistic)
        // A write of either class takes free space only.
        #expect(capacity.available(for: .important) == capacity.free)
        #expect(capacity.available(for: .opportunistic) == capacity.free)
    }

    @Test func opportunisticIsNeverMoreThanImportant() throws {
        let device = try Self.device(others: 900, purgeable: 900, used: 40, Self.files)
        #expect(device.capacity.important.wholeBlocks == 1000)
        #expect(device.capacity.opportunistic.wholeBlocks == 903)
        var off = device
        _ = try off.apply(.thresholds(try #require(ThresholdChange(text: "off"))), as: "", by: 0, at: Self.start)
        #expect(off.capacity.opportunistic.wholeBlocks == 1000)
    }

    /// Describes an order: place or breach, and urgency.
    private static func words(_ order: PurgeOrder) -> [String] {
        order.groups.map { group in
            group.map { rank in
                let what = rank.breach.map { "\(rank.place) over \($0)" } ?? "\(rank.place)"
                return "\(what) \(rank.urgency)"
            }.joined(separator: ", ")
        }
    }

    @Test func orderAtEachUrgency() {
        let over = ["low", "medium", "high"].map { "marked over age \($0), marked over size \($0)" }
        #expect(
            Self.words(Profile.device.order(.low, takesCaches: false))
                == [over[0], "marked low"])
        #expect(
            Self.words(Profile.device.order(.high, takesCaches: false))
                == over + ["marked low", "marked medium", "marked high"])
        let caches = ["low", "medium", "high"].map { "caches over age \($0), caches over size \($0)" }
        #expect(
            Self.words(Profile.device.order(.medium, takesCaches: true))
                == [caches[0] + ", " + over[0], caches[1] + ", " + over[1], caches[2]] + [
                    "caches low, caches medium, caches high", "marked low", "marked medium",
                ])
        func folders(_ order: PurgeOrder) -> [WholeFolder?] { order.groups.indices.map { order.folder(at: $0) } }
        #expect(folders(Profile.device.order(.low, takesCaches: true)) == [nil, nil, nil, .caches, nil])
        #expect(
            folders(Profile.device.order(.high, takesCaches: true))
                == [nil, nil, nil, .caches, .temporary, nil, nil, nil])
        #expect(!folders(Profile.device.order(.high, takesCaches: false)).contains { $0 != nil })
        #expect(!folders(Profile.documented.order(.high, takesCaches: true)).contains { $0 != nil })
    }

    /// A purge in progress keeps its urgency until desired is reached.
    @Test func urgencyLastsUntilDesired() throws {
        var device = try Self.device(others: 960, purgeable: 900)
        #expect(device.level == .veryLow && device.reclaimUrgency == .high)
        // The purge has not begun yet, and other apps free space.
        _ = try device.apply(.others(.to(ByteCount(blocks: 930))), as: "", by: 0, at: Self.start)
        #expect(device.level == .low && device.reclaimUrgency == .medium)
        _ = try device.apply(.others(.to(ByteCount(blocks: 960))), as: "", by: 0, at: Self.start)
        device.reclaiming.begin(on: device)
        device.takeFromOthers(ByteCount(blocks: 30))
        _ = device.judgePressure()
        #expect(device.level == .low && device.reclaimUrgency == .high)
        #expect(device.goal(for: .pressure) == .bytes(ByteCount(blocks: 40)))
        device.takeFromOthers(ByteCount(blocks: 40))
        _ = device.judgePressure()
        #expect(device.reclaimUrgency == nil && device.reclaiming.urgency == nil)
    }

    /// A purge in progress keeps its urgency at most until nothing is left to purge. After that, the level alone decides how
    /// urgently files are purged.
    @Test func urgencyEndsWhenNothingIsLeft() throws {
        var device = try Self.device(others: 960, purgeable: 30)
        device.reclaiming.begin(on: device)
        device.takeFromOthers(ByteCount(blocks: 29))
        _ = device.judgePressure()
        #expect(device.level == .low && device.reclaimUrgency == .high)
        device.takeFromOthers(ByteCount(blocks: 1))
        _ = device.judgePressure()
        #expect(device.level == .low && device.reclaimUrgency == .medium)
        device.ledgers[0].offer(ByteCount(blocks: 5), as: .high)
        #expect(!device.shouldReclaim)
        device.ledgers[0].offer(ByteCount(blocks: 5), as: .medium)
        #expect(device.shouldReclaim)
    }

    @Test func aRefusedWriteIsGivenUpWhenNothingIsLeft() throws {
        var device = try Self.device(used: 950, [.temporary: 40])
        _ = try device.apply(.thresholds(try #require(ThresholdChange(text: "off"))), as: "", by: 0, at: Self.start)
        device.reclaiming.noteRefused(ByteCount(blocks: 80), takesPart: false, on: device)
        // Before the purge begins, purgeable files may come and go.
        device.ledgers[0].retract(ByteCount(blocks: 40), as: .temporary)
        _ = device.judgePressure()
        #expect(device.goal(for: .pressure) == .bytes(ByteCount(blocks: 30)) && !device.shouldReclaim)
        device.ledgers[0].offer(ByteCount(blocks: 40), as: .temporary)
        device.reclaiming.begin(on: device)
        // A file whose name or attributes are changing remains.
        device.ledgers[0].retract(ByteCount(blocks: 30), as: .temporary)
        device.ledgers[0].hold(ByteCount(blocks: 10), as: .temporary)
        _ = device.judgePressure()
        #expect(device.goal(for: .pressure) == .bytes(ByteCount(blocks: 30)) && !device.shouldReclaim)
        device.ledgers[0].release(ByteCount(blocks: 10), as: .temporary)
        device.ledgers[0].retract(ByteCount(blocks: 10), as: .temporary)
        _ = device.judgePressure()
        #expect(device.goal(for: .pressure) == nil && device.reclaiming.isNone)
    }

    @Test func aRefusedWriteAimsAtWhatItNeeds() throws {
        var device = try Self.device(used: 950, [.temporary: 40])
        _ = try device.apply(.thresholds(try #require(ThresholdChange(text: "off"))), as: "", by: 0, at: Self.start)
        #expect(device.goal(for: .pressure) == nil)
        device.reclaiming.noteRefused(ByteCount(blocks: 91), takesPart: false, on: device)
        #expect(device.goal(for: .pressure) == nil)
        device.reclaiming.noteRefused(ByteCount(blocks: 60), takesPart: false, on: device)
        #expect(device.goal(for: .pressure) == .bytes(ByteCount(blocks: 10)) && device.reclaimUrgency == .high)
        device.reclaiming.noteRefused(ByteCount(blocks: 256), takesPart: true, on: device)
        #expect(device.goal(for: .pressure) == .bytes(ByteCount(blocks: 40)))
        device.reclaiming = Reclaiming()
        #expect(device.goal(for: .pressure) == nil)
        // In profile `documented`, a write purges for itself.
        _ = try device.apply(.profile(.documented), as: "", by: 0, at: Self.start)
        device.reclaiming.noteRefused(ByteCount(blocks: 60), takesPart: false, on: device)
        #expect(device.goal(for: .pressure) == nil)
    }

    /// A change of capacity requests the purge that makes used + others fit, but no purge for pressure.
    @Test func whatAChangeOfCapacityCallsFor() throws {
        var device = try Self.device(used: 500)
        let effects = try device.apply(.total(.to(ByteCount(blocks: 400))), as: "", by: 0, at: Self.start)
        #expect(effects.contains(.purge(.capacity)) && !effects.contains(.purge(.pressure)))
    }

    @Test func aRebootEmptiesNothing() throws {
        var device = try Self.device(isRunning: true)
        let effects = try device.apply(.reboot, as: "", by: 7, at: Self.start)
        #expect(device.unfinished == nil && device.boots == 2 && !device.app.isRunning)
        #expect(device.state == .beforeFirstUnlock)
        #expect(
            effects == [
                .event(
                    Event(
                        time: "2026-11-22T12:00:00.000Z", type: .app, reason: "terminate", trigger: .reboot, pid: 7)),
                .processes,
                .event(
                    Event(
                        time: "2026-11-22T12:00:00.000Z", type: .device, reason: "beforeFirstUnlock", trigger: .reboot,
                        pid: 7)), .lockState(.beforeFirstUnlock), .save,
            ])
    }

    /// Creates a device on which the daily removal may run: nothing is free, and tmp holds a block more than 10 MiB.
    private static func deviceToAge() throws -> Device {
        var device = try Self.device()
        device.ledgers[0].enter(ByteCount(blocks: 2561), as: .init(tier: .temporary))
        _ = device.judgePressure()
        return device
    }

    /// The daily removal is due when a day begins, at midnight by the device's clock, which starts at noon.
    @Test func tmpIsLookedAtWhenADayBegins() throws {
        var device = try Self.deviceToAge()
        func isDue(after seconds: Int64, at now: Int64) throws -> Bool {
            try device.apply(.clock(TimeSpan(seconds: seconds)), as: "", by: 0, at: Self.after(now))
                .contains(.age(Self.after(now + seconds)))
        }
        #expect(device.ageing.next == Self.after(43200))
        #expect(try !isDue(after: 43199, at: 0))
        #expect(try isDue(after: 1, at: 43199))
        #expect(!device.ageing.isDue(at: Self.after(43200)))
        #expect(try !isDue(after: 86399, at: 43200))
        #expect(try isDue(after: 10 * 86400, at: 129_599))
        #expect(device.ageing.isDue(at: Self.after(2_000_000)))
        #expect(device.age(to: Self.after(2_000_000)) == [.age(Self.after(2_000_000)), .save])
        #expect(device.age(to: Self.after(2_000_001)) == [])
        // The machine's clock was set back.
        #expect(device.ageing.isDue(at: Self.start))
        _ = try device.apply(.profile(.documented), as: "", by: 0, at: Self.start)
        #expect(device.ageing.next == nil && !device.ageing.isDue(at: Self.start))
    }

    /// The removal takes place if less than three times `desired` (330 blocks) is free, tmp holds more than 10 MiB (2560
    /// blocks), and the app does not run. Otherwise the day passes without it.
    @Test(
        arguments: [
            (free: 329, tmp: 2561, app: .terminated, isDone: true),
            (free: 329, tmp: 2561, app: .offloaded, isDone: true),
            (free: 330, tmp: 2561, app: .terminated, isDone: false),
            (free: 329, tmp: 2560, app: .terminated, isDone: false),
            (free: 329, tmp: 2561, app: .foreground, isDone: false),
            (free: 329, tmp: 2561, app: .background, isDone: false),
            (free: 329, tmp: 2561, app: .suspended, isDone: false),
            (free: 0, tmp: 9000, app: .terminated, isDone: true),
        ] as [(free: Int64, tmp: Int64, app: AppState, isDone: Bool)])
    func whenTheDailyRemovalTakesPlace(free: Int64, tmp: Int64, app: AppState, isDone: Bool) throws {
        var device = try Self.device()
        _ = try device.apply(.total(.to(ByteCount(blocks: 10_000))), as: "", by: 0, at: Self.start)
        let limits = try #require(ThresholdChange(text: "verylow=0,low=0,nearlow=0,desired=\(110 * 4096)"))
        _ = try device.apply(.thresholds(limits), as: "", by: 0, at: Self.start)
        device.ledgers[0].enter(ByteCount(blocks: tmp), as: .init(tier: .temporary))
        device.others = ByteCount(blocks: 10_000 - free - tmp)
        device.app = app
        _ = device.judgePressure()
        #expect(device.capacity.free == ByteCount(blocks: free))
        let midnight = Self.after(43200)
        #expect(device.age(to: midnight) == (isDone ? [.age(midnight), .save] : [.save]))
        // Whatever changes later in the day, the next removal comes with the next day.
        (device.app, device.others) = (.terminated, ByteCount(blocks: 10_000 - tmp))
        #expect(device.age(to: Self.after(43201)) == [])
    }

    @Test func aLookThatWasNotFinishedIsDueAgain() throws {
        var device = try Self.deviceToAge()
        _ = device.age(to: Self.after(43200))
        device.ageing.takeBack(Self.after(43199))
        #expect(!device.ageing.isDue(at: Self.after(43200)))
        device.ageing.takeBack(Self.after(43200))
        #expect(device.age(to: Self.after(43201)) == [.age(Self.after(43201)), .save])
    }

    @Test func theDayOnWhichItBeginsIsNotOver() throws {
        var device = Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
        var settings = SettingsChange()
        settings.profile = .device
        try device.take(settings)
        #expect(device.ageing.day == nil && device.ageing.isDue(at: Self.start))
        #expect(device.age(to: Self.start) == [.save])
        #expect(!device.ageing.isDue(at: Self.after(43199)) && device.ageing.isDue(at: Self.after(43200)))
    }

    @Test func aRestoredDeviceHasTheSameRules() throws {
        var device = try Self.device()
        _ = try device.apply(.purgeLatency(TimeSpan(seconds: 7)), as: "", by: 0, at: Self.start)
        device.othersShare = 40
        let restored = device.restored(containerID: "6FA459EA-EE8A-3CA4-894E-DB77E160355E")
        #expect(restored.profile == .device && restored.purgeLatency == TimeSpan(seconds: 7))
        #expect(restored.othersShare == 40)
        #expect(Self.limits(restored) == [50, 100, 105, 110])
        #expect(restored.ageing.isDue(at: Self.start) && restored.ageing.day == nil)
    }

    @Test(
        arguments: [
            (0, 0), (86399, 0), (86400, 1), (-1, -1), (-86400, -1), (-86401, -2), (1_795_348_800, 20779),
        ] as [(Int64, Int64)])
    func daysSince1970(seconds: Int64, day: Int64) {
        #expect(Instant(seconds: seconds, nanoseconds: 0).day == day)
    }

    @Test(
        arguments: [
            (.caches, .file, 259_200, false), (.temporary, .file, 259_199, false), (.temporary, .file, 259_200, true),
            (.temporary, .symbolicLink, 259_200, true), (.temporary, .other, 259_200, false),
            (.persistent, .file, 259_200, false),
        ] as [(Tier, PurgeFacts.Kind, Int64, Bool)])
    func whatIsOverItsAge(tier: Tier, kind: PurgeFacts.Kind, used: Int64, isOver: Bool) {
        var facts = PurgeFacts(kind: kind, tier: tier, blocks: 0)
        #expect(PurgeRule.isOver(facts, lastUse: Self.after(-used), at: Self.start) == isOver)
        for fact in [\PurgeFacts.isOpen, \.hasSeveralNames, \.isBusy, \.isLinkedOutside, \.isGone] {
            facts[keyPath: fact] = true
            #expect(!PurgeRule.isOver(facts, lastUse: Self.after(-used), at: Self.start))
            facts[keyPath: fact] = false
        }
        // The daily removal leaves no tombstones, and removes existing ones.
        facts.leavesTombstone = true
        #expect(PurgeRule.isOver(facts, lastUse: Self.after(-used), at: Self.start) == isOver)
    }

    @Test(arguments: [("10%/1G", "10%/1073741824"), ("10.5%/4096", "10.5%/4096"), ("5%/0", "5%/0")])
    func aLimitOfBoth(text: String, canonical: String) {
        #expect(ThresholdSetting(text: text)?.text == canonical)
    }

    @Test(arguments: ["/", "10%/", "/1G", "1G/10%", "10%/5%", "1G/1G", "10%/1G/1G", "101%/1G"])
    func noLimitOfBoth(text: String) { #expect(ThresholdSetting(text: text) == nil) }
}
