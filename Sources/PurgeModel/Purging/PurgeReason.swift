/// Why a file was purged (docs/RULES.md, JSON).
public enum PurgeReason: String, Codable, Sendable {
    case others, temporary, caches, purgeable, policyAge, policySize, reboot, command
}

/// The occasion that set off a purge (docs/RULES.md, What sets off a purge).
public enum PurgeTrigger: String, Codable, Sendable {
    case importantWrite, pressure, capacity, policy, reboot, command
}
