/// Why a file was purged (docs/RULES.md, JSON).
public enum PurgeReason: String, Codable, Sendable {
    case others, temporary, caches, purgeable, policyAge, policySize, reboot, command
}

/// What set a purge off (docs/RULES.md, What sets off a purge).
public enum PurgeTrigger: String, Codable, Sendable {
    case importantWrite, pressure, capacity, policy, reboot, command
}

public enum EventType: String, CaseIterable, Codable, Sendable {
    case mount, unmount, purge, refused, pressure, capacity, mark, flagLost, protectionDenied, device, clock, app,
        policy, backup, restore, hostFull, dropped, removed, renamed, replaced

    /// What the app itself does to names: in the journal only, not in the live stream.
    public static let ofApp: Set<EventType> = [.removed, .renamed, .replaced]
    public var isOfApp: Bool { self == .removed || self == .renamed || self == .replaced }
}

/// The reason of a `renamed` event, if it has one.
public enum RenameReason: String, Sendable {
    /// The first and the second event of an exchange of names.
    case exchange, exchanged
}

/// One line of the journal; fields that do not apply are left out (docs/CONTROL.md, events).
public struct Event: Codable, Hashable, Sendable {
    /// Incremented by one for each event of a store, over unmounts too.
    public var seq: Int64
    /// ISO 8601, simulated time.
    public var time: String
    public var type: EventType
    /// Relative to the container. Bytes that are not UTF-8 become U+FFFD.
    public var path: String?
    public var tier: Tier?
    public var bytes: ByteCount?
    public var reason: String?
    public var trigger: PurgeTrigger?
    public var pid: Int32?
    /// The file whose write set a purge off or brought the pressure on, in the form of `path`.
    public var cause: String?
    /// True for a file that was emptied and still has its name.
    public var tombstone: Bool?
    /// For `renamed` the new path; for `replaced` the path from which the new file came.
    public var to: String?
    /// The command name of `pid`.
    public var process: String?
    /// For a purge: when the file was last used, as `time`.
    public var lastUse: String?
    /// The level when a purge or a refusal was decided.
    public var pressure: PressureLevel?
    /// As `time`, but by the clock of the host.
    public var realTime: String?
    /// With the first event of each step of a purge: some of what came earlier in the order and was not taken.
    public var passedOver: [PassedOver]?

    public init(
        seq: Int64 = 0, time: String = "", type: EventType, path: String? = nil, tier: Tier? = nil,
        bytes: ByteCount? = nil, reason: String? = nil, trigger: PurgeTrigger? = nil, pid: Int32? = nil,
        cause: String? = nil, tombstone: Bool? = nil, to: String? = nil, process: String? = nil,
        lastUse: String? = nil, pressure: PressureLevel? = nil, realTime: String? = nil,
        passedOver: [PassedOver]? = nil
    ) {
        self.seq = seq
        self.time = time
        self.type = type
        self.path = path
        self.tier = tier
        self.bytes = bytes
        self.reason = reason
        self.trigger = trigger
        self.pid = pid
        self.cause = cause
        self.tombstone = tombstone
        self.to = to
        self.process = process
        self.lastUse = lastUse
        self.pressure = pressure
        self.realTime = realTime
        self.passedOver = passedOver
    }
}

extension Event {
    /// In place of so many events that are missing here. In the journal it is an event of its own; a reader that was
    /// too slow gets it with the number of the last event that it has missed.
    public static func dropped(_ count: Int, seq: Int64 = 0, time: String = "") -> Event {
        Event(seq: seq, time: time, type: .dropped, reason: "\(count) events")
    }

    /// An entry was replaced by one that lacks a flag which it had itself.
    public static func flagLost(
        _ attribute: StorageAttribute, _ value: String, path: String, tier: Tier?, pid: Int32
    ) -> Event {
        Event(type: .flagLost, path: path, tier: tier, reason: "\(attribute.rawValue)=\(value)", pid: pid)
    }

    /// A flag has been set on an entry or, with nil, removed.
    public static func mark(
        _ attribute: StorageAttribute, _ value: String?, path: String, tier: Tier?, pid: Int32
    ) -> Event {
        Event(
            type: attribute.isOfPolicy ? .policy : .mark, path: path, tier: tier,
            reason: "\(attribute.rawValue)=\(value ?? "removed")", pid: pid)
    }
}
