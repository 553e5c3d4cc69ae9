/// What an app meets at its start (`--state`).
public enum StartState: String, CaseIterable, Sendable {
    case background, suspended, locked, beforeFirstUnlock

    /// The state of the device, if it is not unlocked.
    public var lock: LockState? {
        switch self {
        case .background, .suspended: nil
        case .locked: .locked
        case .beforeFirstUnlock: .beforeFirstUnlock
        }
    }

    /// The state of an app that starts even without a command; nil for an app that starts in the background if it starts.
    public var app: AppState? {
        switch self {
        case .background: .background
        case .suspended: .suspended
        case .locked, .beforeFirstUnlock: nil
        }
    }
}
