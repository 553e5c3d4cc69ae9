import PurgeModel
import PurgeSystem

/// Similar events close together, which a reader sees as one.
package struct EventGroup: Sendable {
    package let first: Event
    package private(set) var last: Event
    package private(set) var count = 1
    package private(set) var bytes: ByteCount
    /// The first different paths, at most `mostPaths`.
    package private(set) var paths: [String]
    /// The number of events whose path is not in `paths`.
    package private(set) var unlisted = 0
    /// The path of all the events; nil if it differs.
    package private(set) var path: String?
    /// The directory that holds all the paths; nil if there are several or none.
    package private(set) var directory: String?
    /// The time of `last` in nanoseconds since 1970; nil if it cannot be parsed.
    fileprivate private(set) var end: Int64?

    private static let mostPaths = 8

    package init(_ event: Event) {
        (first, last, bytes) = (event, event, event.bytes ?? .zero)
        end = Instant(iso8601: event.time)?.nanoseconds
        (path, paths) = (event.path, [event.path].compactMap { $0 })
        directory = event.path.map(Self.directory)
    }

    fileprivate mutating func add(_ event: Event, _ time: Int64?) {
        (last, end) = (event, time)
        count += 1
        bytes += event.bytes ?? .zero
        guard let path = event.path else { return }
        if self.path?.isPath(path) != true { self.path = nil }
        if !paths.contains(where: { $0.isPath(path) }) {
            if paths.count < Self.mostPaths { paths.append(path) } else { unlisted += 1 }
        }
        if directory?.isPath(Self.directory(of: path)) != true { directory = nil }
    }

    /// Returns the path of the directory of an entry: `.` for the container itself.
    package static func directory(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    }
}

/// The newest events in order, in bounded memory. An event joins a recent group of its kind instead of beginning a new one.
package struct EventGroups: Sendable {
    /// The largest number of groups; the events of older ones are only counted.
    private static let most = 100
    /// The number of latest groups that an event can join. It is more than one because purges alternate with the pressure that
    /// they end.
    private static let reach = 6
    /// The longest pause within a group, in nanoseconds.
    private static let longestPause: Int64 = 60_000_000_000

    /// The newest groups, oldest first.
    package private(set) var groups: [EventGroup] = []
    /// The number of events that are older than all groups.
    package private(set) var earlier = 0

    package init() {}

    package mutating func add(_ event: Event) {
        let time = Instant(iso8601: event.time)?.nanoseconds
        if let index = groups.indices.suffix(Self.reach).last(where: { Self.belongs(event, time, to: groups[$0]) }),
            event.type.joinsDistantGroups || index == groups.count - 1
        {
            groups[index].add(event, time)
            return
        }
        groups.append(EventGroup(event))
        if groups.count > Self.most { earlier += groups.removeFirst().count }
    }

    private static func belongs(_ event: Event, _ time: Int64?, to group: EventGroup) -> Bool {
        guard let time, let end = group.end, time >= end else { return false }
        let (pause, isTooLong) = time.subtractingReportingOverflow(end)
        guard !isTooLong, pause <= longestPause else { return false }
        let other = group.last
        guard event.type == other.type else { return false }
        switch event.type {
        case .pressure: return true
        case .mount, .unmount, .dropped, .restore: return false
        case .refused, .hostFull, .protectionDenied:
            // An event without a path stands for many refusals. It joins its like.
            if event.path == nil || other.path == nil { return event.path == nil && other.path == nil }
            fallthrough
        default:
            return event.reason == other.reason && event.trigger == other.trigger && event.pid == other.pid
                && Self.same(event.cause, other.cause)
        }
    }

    private static func same(_ path: String?, _ other: String?) -> Bool {
        guard let path, let other else { return (path == nil) == (other == nil) }
        return path.isPath(other)
    }
}

extension EventType {
    /// Whether an event of this type can join a group that is not the last one. The other types keep their order.
    fileprivate var joinsDistantGroups: Bool {
        switch self {
        case .purge, .refused, .hostFull, .pressure, .flagLost, .protectionDenied, .fault, .removed, .renamed,
            .replaced:
            true
        case .mount, .unmount, .capacity, .device, .clock, .app, .lockHeld, .terminated, .mark, .policy, .backup,
            .restore,
            .dropped:
            false
        }
    }
}
