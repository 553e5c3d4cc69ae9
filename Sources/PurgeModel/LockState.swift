/// Whether the simulated device is locked, which decides what data protection lets an app read.
public enum LockState: String, CaseIterable, Codable, Sendable {
    case unlocked, locking, locked, beforeFirstUnlock
}
