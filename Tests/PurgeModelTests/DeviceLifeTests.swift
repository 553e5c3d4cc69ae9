import PurgeModel
import Testing

/// Lock state, reboots and the app: the effects of each change in each state.
@Suite struct DeviceLifeTests {
    private static let id = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
    private static let otherID = "6FA459EA-EE8A-3CA4-894E-DB77E160355E"
    private static let start = Instant(seconds: 1_795_348_800, nanoseconds: 0)

    private static func device(_ state: LockState, isRunning: Bool = false) -> Device {
        var device = Device(containerID: id)
        device.lock.state = state
        if state == .locking { device.lock.locksAt = after(4) }
        if state == .locked { device.lock.inactiveAt = after(3600) }
        device.app = isRunning ? .foreground : .terminated
        return device
    }
    private static func after(_ seconds: Int64) -> Instant { start.advanced(by: TimeSpan(seconds: seconds)) }

    private static func told(
        _ type: EventType, _ reason: String, at second: Int = 0, pid: Int32? = 7, trigger: PurgeTrigger? = nil,
        bytes: Int64? = nil, cause: String? = nil
    ) -> DeviceEffect {
        .event(
            Event(
                time: "2026-11-22T12:00:0\(second).000Z", type: type, bytes: bytes.map { ByteCount(blocks: $0) },
                reason: reason, trigger: trigger, pid: pid, cause: cause))
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String { "\(change) while \(old)" }
        var old: LockState
        var change: DeviceChange
        var new: LockState
        var effects: [DeviceEffect]

        init(_ old: LockState, _ change: DeviceChange, _ new: LockState, _ effects: [DeviceEffect]) {
            (self.old, self.change, self.new, self.effects) = (old, change, new, effects)
        }
    }

    private static let unlocking: [DeviceEffect] = [told(.device, "unlocked"), .lockState(.unlocked), .save]

    private static let table: [Row] = [
        Row(.unlocked, .lock, .locking, [told(.device, "locking"), .lockState(.locking), .save]),
        Row(.locking, .lock, .locking, []),
        Row(.locked, .lock, .locked, []),
        Row(.beforeFirstUnlock, .lock, .beforeFirstUnlock, []),
        Row(.unlocked, .unlock, .unlocked, []),
        Row(.locking, .unlock, .unlocked, unlocking),
        Row(.locked, .unlock, .unlocked, unlocking),
        Row(.beforeFirstUnlock, .unlock, .unlocked, unlocking),
    ]

    @Test(arguments: table) func lockAndUnlock(row: Row) throws {
        var device = Self.device(row.old)
        #expect(try device.apply(row.change, as: "as told", by: 7, at: Self.start) == row.effects)
        #expect(device.state == row.new)
        #expect(device.revision == (row.effects.isEmpty ? 0 : 1))
    }

    @Test func lockingTakesTenSeconds() throws {
        var device = Self.device(.unlocked)
        _ = try device.apply(.lock, as: "", by: 7, at: Self.start)
        #expect(device.nextDue == Self.after(10))
        #expect(device.proceed(to: Instant(nanoseconds: Self.after(10).nanoseconds - 1)) == [])
        #expect(device.state == .locking)
        let locked: [DeviceEffect] = [
            .event(Event(time: "2026-11-22T12:00:10.000Z", type: .device, reason: "locked")), .lockState(.locked),
            .save,
        ]
        #expect(device.proceed(to: Self.after(10)) == locked)
        #expect(device.state == .locked && device.nextDue == Self.after(3610) && device.lock.locksAt == .distantPast)
        #expect(device.proceed(to: Self.after(1000)) == [])
    }

    /// A second lock does not extend the grace period.
    @Test func lockingAgainDoesNotBeginAnew() throws {
        var device = Self.device(.locking)
        _ = try device.apply(.lock, as: "", by: 7, at: Self.after(3))
        #expect(device.nextDue == Self.after(4))
    }

    @Test func anUnlockEndsLocking() throws {
        var device = Self.device(.locking)
        _ = try device.apply(.unlock, as: "", by: 7, at: Self.start)
        #expect(device.nextDue == nil)
        #expect(device.proceed(to: Self.after(1000)) == [])
    }

    /// The clock advances before the device locks, and one save covers both changes.
    @Test func theClockEndsLocking() throws {
        var device = Self.device(.locking)
        let effects = try device.apply(.clock(TimeSpan(seconds: 4)), as: "as told", by: 7, at: Self.start)
        #expect(
            effects == [
                Self.told(.clock, "as told"), .clock(secondsAhead: 4), Self.told(.device, "locked", at: 4, pid: nil),
                .lockState(.locked), .forgetAttributes, .save,
            ])
        #expect(device.state == .locked)
    }

    @Test func theClockLeavesTheRestOfLocking() throws {
        var device = Self.device(.locking)
        let effects = try device.apply(.clock(TimeSpan(seconds: 3)), as: "as told", by: 7, at: Self.start)
        #expect(
            effects == [Self.told(.clock, "as told"), .clock(secondsAhead: 3), .forgetAttributes, .save])
        #expect(device.state == .locking && device.nextDue == Self.after(4))
    }

    /// A change that is due is carried out before a command that arrives before the timer fires.
    @Test func whatIsDueComesFirst() throws {
        var device = Self.device(.locking)
        let effects = try device.apply(.unlock, as: "", by: 7, at: Self.after(5))
        #expect(
            effects == [
                Self.told(.device, "locked", at: 4, pid: nil), .lockState(.locked), .save,
                Self.told(.device, "unlocked", at: 5), .lockState(.unlocked), .save,
            ])
    }

    @Test func aRefusedChangeCarriesOutNothing() {
        let before = Self.device(.locking)
        var device = before
        #expect(throws: DeviceRefusal.outOfRange) {
            try device.apply(.clock(TimeSpan(seconds: -1)), as: "", by: 7, at: Self.after(5))
        }
        #expect(device == before)
    }

    /// Locking takes at most ten seconds from now, even if the machine's clock was set back or device.json was edited.
    @Test func lockingNeverTakesLonger() {
        var device = Self.device(.locking)
        for moment in [Instant(nanoseconds: .max), Self.after(86400)] {
            device.lock.locksAt = moment
            #expect(device.proceed(to: Self.start) == [])
            #expect(device.nextDue == Self.after(10))
        }
        device.lock.locksAt = .distantPast
        #expect(
            device.proceed(to: Self.start)
                == [Self.told(.device, "locked", pid: nil), .lockState(.locked), .save])
    }

    /// Until the files have been removed, only the note of the unfinished work changes.
    @Test(arguments: [
        (DeviceChange.reboot, DeviceWork.reboot), (.app(.update), .update), (.app(.delete), .delete),
    ])
    func workIsBegunAndThenFinished(change: DeviceChange, work: DeviceWork) throws {
        let before = Self.device(.unlocked, isRunning: true)
        var device = before
        #expect(try device.apply(change, as: "", by: 7, at: Self.start) == [.work(work)])
        #expect(device.unfinished == work && device.revision == 1)
        device.abandon()
        #expect(device.unfinished == nil && device.revision == 2)
        #expect(device.asSaved == before.asSaved && device.app.isRunning)
        #expect(device.finish(newID: Self.otherID, freed: .zero, by: 7, at: Self.start) == [])
    }

    @Test(arguments: LockState.allCases) func aReboot(from state: LockState) throws {
        for isRunning in [false, true] {
            var device = Self.device(state, isRunning: isRunning)
            _ = try device.apply(.reboot, as: "", by: 7, at: Self.start)
            let effects = device.finish(newID: Self.otherID, freed: .zero, by: 7, at: Self.start)
            let end = isRunning ? [Self.told(.app, "terminate", trigger: .reboot), .processes] : []
            #expect(
                effects == end + [
                    Self.told(.device, "beforeFirstUnlock", trigger: .reboot), .lockState(.beforeFirstUnlock), .save,
                ])
            #expect(device.state == .beforeFirstUnlock && device.lock.nextDue == nil)
            #expect(device.boots == 2 && !device.app.isRunning && device.unfinished == nil)
            #expect(device.containerID == Self.id)
        }
    }

    @Test(arguments: [(AppCommand.update, nil), (.delete, 3)] as [(AppCommand, Int64?)])
    func anotherInstallation(command: AppCommand, bytes: Int64?) throws {
        var device = Self.device(.locked, isRunning: true)
        _ = try device.apply(.app(command), as: "", by: 7, at: Self.start)
        let effects = device.finish(newID: Self.otherID, freed: ByteCount(blocks: 3), by: 7, at: Self.start)
        #expect(
            effects == [
                Self.told(.app, command.rawValue, bytes: bytes, cause: Self.id), .processes, .save,
            ])
        #expect(device.containerID == Self.otherID && !device.app.isRunning && device.unfinished == nil)
        #expect(device.state == .locked && device.boots == 1)
    }

    @Test func launchAndTerminate() throws {
        var device = Self.device(.unlocked)
        func make(_ command: AppCommand) throws -> [DeviceEffect] {
            try device.apply(.app(command), as: "", by: 7, at: Self.start)
        }
        #expect(try make(.terminate) == [])
        #expect(try make(.launch) == [Self.told(.app, "launch"), .processes, .launch])
        #expect(device.app.isRunning && !device.asSaved.app.isRunning)
        #expect(try make(.launch) == [])
        #expect(try make(.terminate) == [Self.told(.app, "terminate"), .processes])
        #expect(!device.app.isRunning && device.revision == 2)
    }

    @Test func whatHasChangedSinceItWasSaved() {
        let saved = Self.device(.unlocked)
        let changes: [(String, (inout Device) -> Void)] = [
            ("total", { $0.total = ByteCount(4 << 20) }), ("others", { $0.others = ByteCount(4096) }),
            ("the purgeable part of others", { $0.othersPurgeable = ByteCount(4096) }),
            ("the share of others", { $0.othersShare = 50 }), ("the thresholds", { $0.thresholds = .off }),
            ("the default protection class", { $0.protection = .complete }),
            ("the UUID of the container", { $0.containerID = Self.otherID }), ("boots", { $0.boots += 1 }),
            ("the lock state", { $0.lock.state = .locked }),
            ("the time until access expires", { $0.lock.inactivity = TimeSpan(seconds: 60) }),
            ("the clock", { $0.clock += 1 }),
        ]
        for (name, change) in changes {
            var device = saved
            change(&device)
            #expect(device.changes(since: saved) == [name])
        }
        var (device, marked) = (saved, saved)
        device.notePurged(files: 1, bytes: ByteCount(4096))
        #expect(device.changes(since: saved) == [])
        marked.unfinished = .reboot
        #expect(marked.changes(since: marked) == [] && device.changes(since: marked) == ["the end of a reboot"])
    }

    /// The number of boots stops at the largest number that device.json may contain.
    @Test func bootsEndWhereAFileMayHaveThem() throws {
        var device = Self.device(.unlocked)
        device.boots = (1 << 60) - 1
        for _ in 0..<3 {
            _ = try device.apply(.reboot, as: "", by: 7, at: Self.start)
            _ = device.finish(newID: Self.otherID, freed: .zero, by: 7, at: Self.start)
        }
        #expect(device.boots == 1 << 60)
        try device.validate()
    }
}
