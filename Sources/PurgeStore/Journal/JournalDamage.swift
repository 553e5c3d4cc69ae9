import PurgeModel
import PurgeSystem

/// A damaged, removed or replaced journal that another one continues, or a stray log that was kept aside.
public struct JournalDamage: Sendable {
    /// The message for the user.
    public let message: StoreError
    /// The text for the new journal about the events that it lacks; nil if it is complete, or already has that text.
    public internal(set) var lack: String?
    /// Whether the journal in use lacks earlier events.
    public let losesEvents: Bool

    init(_ error: DatabaseError, keptAs aside: String, in place: StoreDirectory) {
        message = StoreError(
            "the journal was damaged: \(error.message)", path: place.pathOf(JournalSchema.fileName),
            advice: "The damaged journal is now `\(aside)`, and a new one was started. Only the damaged one has "
                + "earlier events and last uses of files. Files and settings are not affected.")
        lack = "events of a damaged journal, which is now `\(aside)`"
        losesEvents = true
    }

    init(ofLogKeptAs aside: String, in place: StoreDirectory) {
        message = StoreError(
            "a write-ahead log of another database was beside the journal", path: place.pathOf(JournalSchema.logName),
            advice: "It is now `\(aside)`, and is not needed; the journal is used as it was.")
        lack = nil
        losesEvents = false
    }

    /// The journal's file was removed or replaced.
    init(ofLostIn place: StoreDirectory) {
        message = StoreError(
            "the journal was removed or replaced while it was in use", path: place.pathOf(JournalSchema.fileName),
            advice: "The journal there now is used, or a new one was started. It lacks the earlier events and last "
                + "uses of files.")
        lack = "events of a journal that was removed or replaced"
        losesEvents = true
    }

    /// Returns an event about what the new journal lacks, at the current time.
    func event(numbered seq: Int64, in place: StoreDirectory) -> Event {
        Event(
            seq: seq, time: StoredClock.now(in: place).iso8601, type: .dropped, reason: lack,
            realTime: Instant(nanoseconds: System.now()).iso8601)
    }
}
