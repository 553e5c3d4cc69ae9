/// The state of the app (docs/RULES.md, The life of an app).
public enum AppState: String, CaseIterable, Codable, Sendable {
    case foreground, background
    /// In memory, and not executed.
    case suspended
    case terminated
    /// The app's program is removed and its data is kept.
    case offloaded

    public var isInForeground: Bool { self == .foreground }

    public var isRunning: Bool {
        switch self {
        case .foreground, .background, .suspended: true
        case .terminated, .offloaded: false
        }
    }
}

/// A command that a user gives about the app.
public enum AppCommand: String, CaseIterable, Sendable {
    case launch, background, suspend, terminate, update, delete, offload, install

    /// The state that the command leads to. For `update` and `delete`, it follows the work on the files.
    var goal: AppState {
        switch self {
        case .launch: .foreground
        case .background: .background
        case .suspend: .suspended
        case .terminate, .update, .delete, .install: .terminated
        case .offload: .offloaded
        }
    }
}

/// Why the system ended the app, with the code of Apple's crash reports.
public enum AppTermination: String, CaseIterable, Sendable {
    /// The app was suspended while it held a lock on a file outside its container.
    case lockHeldWhileSuspended
    /// `Library/Caches` or `tmp` was purged as a whole while the app ran in the background.
    case cachesPurged

    public var code: String {
        switch self {
        case .lockHeldWhileSuspended: "0xdead10cc"
        case .cachesPurged: "0xbaddd15c"
        }
    }
}

extension AppCommand {
    /// Carries out the command at `now`. Throws `notRunning` for the suspension of an app that does not run, and `offloaded`
    /// for the start of one that is offloaded.
    func carryOut(
        on device: inout Device, by pid: Int32, at now: Instant
    ) throws(DeviceRefusal) -> [DeviceEffect] {
        let old = device.app
        switch self {
        case .update: return device.begin(.update)
        case .delete: return device.begin(.delete)
        case .launch, .background:
            if old == .offloaded { throw .offloaded }
        case .suspend:
            if !old.isRunning { throw .notRunning }
        case .terminate:
            if !old.isRunning { return [] }
        case .install:
            if old != .offloaded { return [] }
        case .offload: break
        }
        guard goal.begin(on: &device, at: now) else { return [] }
        let event = Event(time: now.iso8601, type: .app, reason: rawValue, pid: pid)
        let starts = goal.isRunning && !old.isRunning
        let saves = goal == .offloaded || old == .offloaded
        return [.event(event), .processes] + (starts ? [.launch] : []) + (saves ? [.save] : [])
    }
}

extension AppTermination {
    /// Ends an app that runs and is not in the foreground, as the system does; does nothing in other states.
    public func carryOut(
        on device: inout Device, path: String? = nil, process: Int32? = nil, at now: Instant
    ) -> [DeviceEffect] {
        guard device.app != .foreground, AppState.end(on: &device, at: now) else { return [] }
        return [.event(.terminated(for: self, path: path, pid: process, time: now.iso8601)), .killApp]
    }
}

extension AppState {
    /// Terminates the app if it runs or, with `evenOffloaded`, in any state. Returns whether it was running.
    static func end(on device: inout Device, evenOffloaded: Bool = false, at now: Instant) -> Bool {
        let wasRunning = device.app.isRunning
        if wasRunning || evenOffloaded { _ = terminated.begin(on: &device, at: now) }
        return wasRunning
    }

    /// Puts the app into this state, and returns whether it was in another one before.
    func begin(on device: inout Device, at now: Instant) -> Bool {
        let old = device.app
        guard self != old else { return false }
        if old == .foreground || self == .foreground {
            device.use.note(at: now)
            device.revision += 1
        }
        device.app = self
        return true
    }
}
