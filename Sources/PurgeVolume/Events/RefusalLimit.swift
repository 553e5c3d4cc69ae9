import PurgeModel
import PurgeSystem

/// Limits repeated refusals in the journal and the stream. A program that keeps trying on a full device, a full disk or a
/// locked device would fill the journal with a single fact. At most one `refused` and one `hostFull` event a second are kept
/// for each file, and at most a hundred `protectionDenied` events a second in total. The memory for this is bounded.
struct RefusalLimit {
    /// Nanoseconds.
    private static let spacing: Int64 = 1_000_000_000
    /// How many `protectionDenied` events are kept within `spacing`. Each is worth recording unless there are very many: the
    /// kernel repeats a page fault of mlock(2) without end.
    static let denials = 100
    /// How many files are remembered. Refusals for more files within a second are reported in one event.
    static let files = 1024

    private struct Key: Hashable {
        var type: EventType
        /// A hash of the path, because a long path would take memory.
        var path: Int
    }
    private var last: [Key: Int64] = [:]
    /// When `last` was last cleaned up.
    private var pruned = Int64.min
    /// Refusals that are only counted, by type.
    private var others: [EventType: Int] = [:]
    /// The start of the current interval for denials, and the number of denials in it.
    private var denied: (since: Int64, count: Int) = (.min, 0)

    /// Whether events of this type are limited at all.
    static func concerns(_ type: EventType) -> Bool {
        type == .refused || type == .hostFull || type == .protectionDenied
    }

    /// Whether the event is kept. `now` is System.uptime. A summary, which names no file, is always kept.
    mutating func admits(_ event: Event, at now: Int64) -> Bool {
        if event.type == .protectionDenied { return event.path == nil || admitsDenial(at: now) }
        guard event.type == .refused || event.type == .hostFull, let path = event.path else { return true }
        let key = Key(type: event.type, path: path.pathHash)
        if let before = last[key], now - before < Self.spacing { return false }
        if last.count >= Self.files { prune(at: now) }
        guard last.count < Self.files || last[key] != nil else {
            others[event.type, default: 0] += 1
            return false
        }
        last[key] = now
        return true
    }

    private mutating func admitsDenial(at now: Int64) -> Bool {
        if denied.since == .min || now - denied.since >= Self.spacing { denied = (now, 0) }
        denied.count += 1
        if denied.count > Self.denials { others[.protectionDenied, default: 0] += 1 }
        return denied.count <= Self.denials
    }

    /// Forgets files without a recent refusal. Done rarely, because it visits all of them.
    private mutating func prune(at now: Int64) {
        guard pruned == .min || now - pruned >= Self.spacing / 4 else { return }
        pruned = now
        last = last.filter { now - $0.value < Self.spacing }
    }

    /// Returns the events that stand for refusals that were only counted.
    mutating func takeSummary() -> [Event] {
        defer { others = [:] }
        return others.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            Event(
                type: $0.key,
                reason: $0.key == .protectionDenied ? "\($0.value) more" : "\($0.value) more, of other files")
        }
    }
}
