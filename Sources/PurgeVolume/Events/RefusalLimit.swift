import PurgeModel

/// A program that tries again and again on a full device, or a full disk, would fill the journal with one fact:
/// of one file at most one `refused` and one `hostFull` a second are kept. What is remembered for that is bounded.
struct RefusalLimit {
    /// Nanoseconds.
    private static let spacing: Int64 = 1_000_000_000
    /// Files of which something is remembered; what more are refused within a second are told in one event.
    static let files = 1024

    private struct Key: Hashable {
        var type: EventType
        /// Of the path: a long one would cost what it is long.
        var path: Int
    }
    private var last: [Key: Int64] = [:]
    /// When `last` was last freed of what is over.
    private var pruned = Int64.min
    /// Refusals, by their type, of files beyond those.
    private var others: [EventType: Int] = [:]

    /// Whether the event is to be told. `now` is System.uptime. A summary, which names no file, always is.
    mutating func admits(_ event: Event, at now: Int64) -> Bool {
        guard event.type == .refused || event.type == .hostFull, let path = event.path else { return true }
        let key = Key(type: event.type, path: path.hashValue)
        if let before = last[key], now - before < Self.spacing { return false }
        if last.count >= Self.files { prune(at: now) }
        guard last.count < Self.files || last[key] != nil else {
            others[event.type, default: 0] += 1
            return false
        }
        last[key] = now
        return true
    }

    /// Rarely, since it looks at all of them.
    private mutating func prune(at now: Int64) {
        guard pruned == .min || now - pruned >= Self.spacing / 4 else { return }
        pruned = now
        last = last.filter { now - $0.value < Self.spacing }
    }

    /// What stands for the refusals that were counted and not told.
    mutating func takeSummary() -> [Event] {
        defer { others = [:] }
        return others.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            Event(type: $0.key, reason: "\($0.value) more, of other files")
        }
    }
}
