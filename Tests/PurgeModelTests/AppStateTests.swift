import PurgeModel
import Testing

/// The states of the app: what each command does in each state.
@Suite struct AppStateTests {
    private static let now = Instant(seconds: 1_795_348_800, nanoseconds: 0)
    private static let time = "2026-11-22T12:00:00.000Z"

    private static func device(_ state: AppState) -> Device {
        var device = Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
        device.app = state
        return device
    }

    private static func told(_ reason: String) -> DeviceEffect {
        .event(Event(time: time, type: .app, reason: reason, pid: 7))
    }

    enum Outcome: Sendable {
        /// The command is accepted and changes nothing.
        case nothing
        case enters(AppState)
        /// Enters a state in which the app runs, from one in which it did not.
        case starts(AppState)
        case enterAndSave(AppState)
        case refused(DeviceRefusal)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String { "\(command) in \(state)" }
        var state: AppState
        var command: AppCommand
        var outcome: Outcome
        init(_ state: AppState, _ command: AppCommand, _ outcome: Outcome) {
            (self.state, self.command, self.outcome) = (state, command, outcome)
        }
    }

    static let rows = [
        Row(.terminated, .launch, .starts(.foreground)), Row(.terminated, .background, .starts(.background)),
        Row(.terminated, .suspend, .refused(.notRunning)), Row(.terminated, .terminate, .nothing),
        Row(.terminated, .offload, .enterAndSave(.offloaded)), Row(.terminated, .install, .nothing),
        Row(.foreground, .launch, .nothing), Row(.foreground, .background, .enters(.background)),
        Row(.foreground, .suspend, .enters(.suspended)), Row(.foreground, .terminate, .enters(.terminated)),
        Row(.foreground, .offload, .enterAndSave(.offloaded)), Row(.foreground, .install, .nothing),
        Row(.background, .launch, .enters(.foreground)), Row(.background, .background, .nothing),
        Row(.background, .suspend, .enters(.suspended)), Row(.background, .terminate, .enters(.terminated)),
        Row(.background, .offload, .enterAndSave(.offloaded)), Row(.background, .install, .nothing),
        Row(.suspended, .launch, .enters(.foreground)), Row(.suspended, .background, .enters(.background)),
        Row(.suspended, .suspend, .nothing), Row(.suspended, .terminate, .enters(.terminated)),
        Row(.suspended, .offload, .enterAndSave(.offloaded)), Row(.suspended, .install, .nothing),
        Row(.offloaded, .launch, .refused(.offloaded)), Row(.offloaded, .background, .refused(.offloaded)),
        Row(.offloaded, .suspend, .refused(.notRunning)), Row(.offloaded, .terminate, .nothing),
        Row(.offloaded, .offload, .nothing), Row(.offloaded, .install, .enterAndSave(.terminated)),
    ]

    @Test(arguments: rows) func commands(row: Row) throws {
        var device = Self.device(row.state)
        func apply() throws -> [DeviceEffect] { try device.apply(.app(row.command), as: "", by: 7, at: Self.now) }
        switch row.outcome {
        case .nothing:
            #expect(try apply() == [] && device == Self.device(row.state))
        case .enters(let new):
            #expect(try apply() == [Self.told(row.command.rawValue), .processes] && device.app == new)
        case .starts(let new):
            let effects = [Self.told(row.command.rawValue), .processes, .launch]
            #expect(try apply() == effects && device.app == new)
        case .enterAndSave(let new):
            #expect(try apply() == [Self.told(row.command.rawValue), .processes, .save] && device.app == new)
        case .refused(let why):
            #expect(throws: why) { try apply() }
            #expect(device == Self.device(row.state))
        }
    }

    @Test func onlyAnOffloadedAppStaysSo() {
        let saved = AppState.allCases.map { Self.device($0).asSaved.app }
        #expect(saved == [.terminated, .terminated, .terminated, .terminated, .offloaded])
    }

    @Test func theLastTimeInTheForeground() throws {
        var device = Self.device(.terminated)
        func apply(_ command: AppCommand, at second: Int64) throws {
            _ = try device.apply(.app(command), as: "", by: 7, at: Self.after(second))
        }
        try apply(.background, at: 1)
        #expect(device.use.lastForeground == nil)
        try apply(.launch, at: 2)
        try apply(.background, at: 5)
        #expect(device.use.lastForeground == Self.after(5))
        try apply(.terminate, at: 9)
        #expect(device.use.lastForeground == Self.after(5))
    }

    private static func after(_ seconds: Int64) -> Instant { now.advanced(by: TimeSpan(seconds: seconds)) }

    /// The system ends only an app that runs and is not in the foreground.
    @Test(arguments: AppState.allCases) func termination(state: AppState) {
        var device = Self.device(state)
        let effects = AppTermination.lockHeldWhileSuspended.carryOut(
            on: &device, path: "/shared/db", process: 9, at: Self.now)
        guard state == .background || state == .suspended else {
            #expect(effects == [] && device.app == state)
            return
        }
        #expect(device.app == .terminated && effects.count == 2 && effects.last == .killApp)
        guard case .event(let event) = effects.first else {
            Issue.record("no event")
            return
        }
        #expect(event.type == .terminated && event.reason == "lockHeldWhileSuspended" && event.code == "0xdead10cc")
        #expect(event.path == "/shared/db" && event.pid == 9 && event.time == Self.time)
    }

    @Test func theCodesOfCrashReports() {
        #expect(AppTermination.allCases.map(\.code) == ["0xdead10cc", "0xbaddd15c"])
    }

    @Test(arguments: [
        (StartState.background, LockState.unlocked, Int64(1)), (.suspended, .unlocked, 1), (.locked, .locked, 1),
        (.beforeFirstUnlock, .beforeFirstUnlock, 2),
    ]) func whatTheAppMeets(start: StartState, lock: LockState, boots: Int64) throws {
        var device = Self.device(.terminated)
        var change = SettingsChange()
        change.lock = start.lock
        try device.take(change)
        #expect(device.state == lock && device.boots == boots)
        // Access to files of class `completeWhenUserInactive` expires an hour after the start of a locked device.
        #expect(device.proceed(to: Self.now) == [] && device.nextDue == (lock == .locked ? Self.after(3600) : nil))
    }
}
