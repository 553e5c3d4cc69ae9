import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// Sums up events by directory, by kind and by process.
struct EventSummary {
    /// The maximum number of names in a directory's path. The events of deeper directories count towards their ancestor at this
    /// depth.
    private static let depth = 3

    private var times = EventTimes()
    private var total = Row()
    /// Keyed by the bytes of the path, since different paths can be equal as strings.
    private var directories: [[UInt8]: Row] = [:]
    private var kinds: [Kind: Row] = [:]
    private var processes: [User: Row] = [:]

    private struct Kind: Hashable {
        var type: EventType
        var reason: String?
        var trigger: PurgeTrigger?
    }

    /// The process behind an event. `pid` is set only if the name is unknown; both are nil if there is no process.
    private struct User: Hashable {
        var process: String?
        var pid: Int32?

        init(_ event: Event) {
            process = event.process
            pid = event.process == nil && event.pid != 0 ? event.pid : nil
        }
    }

    private struct Row {
        var events: Int64 = 0
        /// Hashes of the paths.
        var files: Set<Int> = []
        var purged: Int64 = 0
        var purgedBytes = ByteCount.zero
        var refused: Int64 = 0

        mutating func add(_ event: Event) {
            events += 1
            if let path = event.path { files.insert(path.pathHash) }
            if event.type == .purge {
                purged += event.path == nil ? 0 : 1
                purgedBytes += event.bytes ?? .zero
            }
            if event.type == .refused { refused += 1 }
        }

        var counts: EventSummaryReport.Counts {
            .init(
                events: events, files: Int64(files.count), purgedFiles: purged, purgedBytes: purgedBytes,
                refusedWrites: refused)
        }
    }

    mutating func add(_ event: Event) {
        times.add(event.time)
        total.add(event)
        if let path = event.path { directories[Self.directory(of: path), default: Row()].add(event) }
        // For events of other types, the reason is free text, which would split them into too many kinds.
        let isPurge = event.type == .purge
        let kind = Kind(type: event.type, reason: isPurge ? event.reason : nil, trigger: isPurge ? event.trigger : nil)
        kinds[kind, default: Row()].add(event)
        processes[User(event), default: Row()].add(event)
    }

    /// Returns the directory of a path, relative to the container; empty for the container itself.
    private static func directory(of path: String) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        return Array(path.utf8.split(separator: slash).dropLast().prefix(depth).joined(separator: [slash]))
    }

    var report: EventSummaryReport {
        EventSummaryReport(
            first: times.first, last: times.last, total: total.counts,
            directories: directories.map { .init(directory: String(decoding: $0, as: UTF8.self), counts: $1.counts) }
                .sorted { $0.name < $1.name }.inOrder,
            reasons: kinds.map {
                .init(type: $0.type, reason: $0.reason, trigger: $0.trigger, counts: $1.counts)
            }.sorted { $0.name < $1.name }.inOrder,
            processes: processes.map { .init(process: $0.process, pid: $0.pid, counts: $1.counts) }
                .sorted { $0.name < $1.name }.inOrder)
    }
}

/// The result of `purgefs events --summary` (docs/CLI.md).
struct EventSummaryReport: Encodable {
    struct Counts: Encodable, Hashable {
        var events: Int64
        /// The number of distinct paths in the events.
        var files: Int64
        var purgedFiles: Int64
        var purgedBytes: ByteCount
        var refusedWrites: Int64
    }

    /// One line of a table.
    struct Line: Encodable, Hashable {
        var directory: String?
        var type: EventType?
        var reason: String?
        var trigger: PurgeTrigger?
        var process: String?
        var pid: Int32?
        var events: Int64
        var files: Int64
        var purgedFiles: Int64
        var purgedBytes: ByteCount
        var refusedWrites: Int64

        init(
            directory: String? = nil, type: EventType? = nil, reason: String? = nil, trigger: PurgeTrigger? = nil,
            process: String? = nil, pid: Int32? = nil, counts: Counts
        ) {
            (self.directory, self.type, self.reason, self.trigger) = (directory, type, reason, trigger)
            (self.process, self.pid) = (process, pid)
            (events, files, purgedFiles) = (counts.events, counts.files, counts.purgedFiles)
            (purgedBytes, refusedWrites) = (counts.purgedBytes, counts.refusedWrites)
        }

        /// The subject of the line as text.
        var name: String {
            if let directory { return directory.isEmpty ? "(the container itself)" : VisibleText.of(directory) }
            guard let type else { return process.map(VisibleText.of) ?? pid.map { "pid \($0)" } ?? "(no process)" }
            let words = [reason, trigger?.rawValue].compactMap { $0 }.joined(separator: " < ")
            return type.rawValue + (words.isEmpty ? "" : ": \(VisibleText.of(words))")
        }
    }

    /// The earliest and the latest time of the events; nil if there are none. They may differ from the times of the first and
    /// the last event, since a clock can be set back.
    var first: String?
    var last: String?
    var total: Counts
    var directories: [Line]
    var reasons: [Line]
    var processes: [Line]
}

extension [EventSummaryReport.Line] {
    /// The lines by purged bytes, then by refused writes, then by events, the most first. Equal lines keep their order.
    fileprivate var inOrder: Self {
        enumerated().sorted { a, b in
            let (one, two) = (a.element, b.element)
            if one.purgedBytes != two.purgedBytes { return one.purgedBytes > two.purgedBytes }
            if one.refusedWrites != two.refusedWrites { return one.refusedWrites > two.refusedWrites }
            return one.events == two.events ? a.offset < b.offset : one.events > two.events
        }.map(\.element)
    }
}
