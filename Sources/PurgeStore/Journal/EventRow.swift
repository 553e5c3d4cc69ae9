import CSQLite
import PurgeModel

/// An event as a row of the table `events`.
enum EventRow {
    /// The sequence numbers that an event can have.
    private static let sequences: ClosedRange<Int64> = 1...1 << 62
    /// The largest number that the last event may have when a journal is opened. Far more numbers are left above it than the
    /// events of one mount need.
    static let largestLast: Int64 = 1 << 61

    /// Returns the number of the newest event; 0 if there is none.
    static func lastSequence(in database: Database) throws(DatabaseError) -> Int64 {
        let last = try database.number("SELECT max(seq) FROM events") ?? 0
        guard (0...largestLast).contains(last) else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "it has an event with the number \(last)")
        }
        return last
    }

    private static let columns =
        "seq, time, type, path, tier, bytes, reason, trigger, pid, cause, tombstone, target, process, last_use, "
        + "pressure, real_time, passed_over"

    /// Selects rows in the form that `event` reads.
    static let selection = "SELECT \(columns) FROM events"

    /// Returns the SQL that inserts an event. With `orIgnore`, an existing event with the same number stays. Otherwise the
    /// existing event is replaced, because a transaction whose commit failed may be on disk all the same, and is then written
    /// again.
    static func insertion(orIgnore: Bool = false) -> String {
        let marks = columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
        return "INSERT OR \(orIgnore ? "IGNORE" : "REPLACE") INTO events(\(columns)) VALUES(\(marks))"
    }

    static func insert(_ event: Event, with statement: borrowing Statement) throws(DatabaseError) {
        try statement.bind(event.seq, 1)
        try statement.bind(event.time, 2)
        try statement.bind(event.type.rawValue, 3)
        try statement.bind(event.path, 4)
        try statement.bind(event.tier?.rawValue, 5)
        try statement.bind(event.bytes?.bytes, 6)
        try statement.bind(event.reason, 7)
        try statement.bind(event.trigger?.rawValue, 8)
        try statement.bind(event.pid.map { Int64($0) }, 9)
        try statement.bind(event.cause, 10)
        try statement.bind(event.tombstone.map { $0 ? 1 : 0 }, 11)
        try statement.bind(event.to, 12)
        try statement.bind(event.process, 13)
        try statement.bind(event.lastUse, 14)
        try statement.bind(event.pressure?.rawValue, 15)
        try statement.bind(event.realTime, 16)
        try statement.bind(event.passedOver.map { JSONText.encode($0) }, 17)
        try statement.run()
    }

    /// Returns the event in the current row of a `selection`.
    static func event(_ row: borrowing Statement) throws(DatabaseError) -> Event {
        guard let seq = row.number(0), sequences.contains(seq), let time = row.text(1),
            let type = row.text(2).flatMap(EventType.init(rawValue:))
        else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "event \(row.number(0) ?? 0) cannot be understood")
        }
        var event = Event(
            seq: seq, time: time, type: type, path: row.text(3), tier: row.text(4).flatMap(Tier.init(rawValue:)),
            bytes: row.number(5).map { ByteCount(max(0, $0)) }, reason: row.text(6),
            trigger: row.text(7).flatMap(PurgeTrigger.init(rawValue:)),
            pid: row.number(8).flatMap { Int32(exactly: $0) }, cause: row.text(9),
            tombstone: row.number(10) == 1 ? true : nil, to: row.text(11), process: row.text(12),
            lastUse: row.text(13), pressure: row.text(14).flatMap(PressureLevel.init(rawValue:)),
            realTime: row.text(15), passedOver: row.text(16).flatMap(passedOver))
        event.setCode()
        return event
    }

    /// Parses the skipped files; returns nil if they cannot be understood, because losing them is better than losing the event.
    private static func passedOver(_ text: String) -> [PassedOver]? {
        do { return try JSONText.decode([PassedOver].self, from: text) } catch { return nil }
    }
}
