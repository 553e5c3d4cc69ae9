public enum EventType: String, CaseIterable, Codable, Sendable {
    case mount, unmount, purge, refused, pressure, capacity, mark, flagLost, protectionDenied, device, clock, app,
        lockHeld, terminated, policy, backup, restore, hostFull, fault, dropped, removed, renamed, replaced

    /// The app's own name changes, which are in the journal but not in the live stream.
    public static let ofApp: Set<EventType> = [.removed, .renamed, .replaced]
    public var isOfApp: Bool { self == .removed || self == .renamed || self == .replaced }
}

/// The reason of a `renamed` event, if it has one.
public enum RenameReason: String, Sendable {
    /// The first and the second event of an exchange of two names.
    case exchange, exchanged
}

/// One line of the journal. Members that do not apply are omitted (docs/CONTROL.md, events).
public struct Event: Codable, Hashable, Sendable {
    /// Increases by one with each event of a store, across mounts.
    public var seq: Int64
    /// The simulated time, in ISO 8601.
    public var time: String
    public var type: EventType
    /// The path relative to the container. Bytes that are not UTF-8 become U+FFFD.
    public var path: String?
    public var tier: Tier?
    public var bytes: ByteCount?
    public var reason: String?
    /// The code of `terminated`, such as 0xdead10cc. Not in the journal, because it follows from the reason.
    public var code: String?
    public var trigger: PurgeTrigger?
    public var pid: Int32?
    /// The file whose write set off the purge or raised the pressure, in the form of `path`. For an update, a deletion or a
    /// restore, the earlier UUID of the container. For a fault, the call: `write#12`.
    public var cause: String?
    /// True for a file that was truncated and still has its name.
    public var tombstone: Bool?
    /// The new path of a `renamed` entry; for `replaced`, the former path of the new file.
    public var to: String?
    /// The command name of `pid`.
    public var process: String?
    /// When a purged file was last used, in the form of `time`.
    public var lastUse: String?
    /// The pressure level when the purge or the refusal was decided.
    public var pressure: PressureLevel?
    /// The host's time, in the form of `time`.
    public var realTime: String?
    /// Some of the files that were skipped although their turn had come. At most the first event of each batch of a purge has
    /// them.
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
    /// Returns the event for the system having ended the app.
    static func terminated(for reason: AppTermination, path: String?, pid: Int32?, time: String) -> Event {
        var event = Event(time: time, type: .terminated, path: path, reason: reason.rawValue, pid: pid)
        event.setCode()
        return event
    }

    /// Sets the code that follows from the reason.
    public mutating func setCode() {
        if type == .terminated { code = reason.flatMap(AppTermination.init(rawValue:))?.code }
    }

    /// Stands for `count` events that were dropped. The journal numbers this event like any other. A reader that was too slow
    /// gets this event with the number of the last event that the reader missed.
    public static func dropped(_ count: Int, seq: Int64 = 0, time: String = "") -> Event {
        Event(seq: seq, time: time, type: .dropped, reason: "\(count) events")
    }

    /// Reports that the replacement of an entry lacks a flag that the entry had.
    public static func flagLost(
        _ attribute: StorageAttribute, _ value: String, path: String, tier: Tier?, pid: Int32
    ) -> Event {
        Event(type: .flagLost, path: path, tier: tier, reason: "\(attribute.rawValue)=\(value)", pid: pid)
    }

    /// Reports that a flag was set on an entry or, if the value is nil, removed.
    public static func mark(
        _ attribute: StorageAttribute, _ value: String?, path: String, tier: Tier?, pid: Int32
    ) -> Event {
        Event(
            type: attribute.isOfPolicy ? .policy : .mark, path: path, tier: tier,
            reason: "\(attribute.rawValue)=\(value ?? "removed")", pid: pid)
    }
}
