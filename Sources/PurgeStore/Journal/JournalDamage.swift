/// A journal was damaged, and its use goes on with what could be read; or it is gone, and its use goes on without it.
public struct JournalDamage: Sendable {
    /// For a person.
    public let message: StoreError
    /// How many events could be read.
    public let events: Int64
    /// What the journal lacks, for itself.
    public let lack: String

    init(_ error: DatabaseError, _ salvaged: SalvagedJournal, in place: StoreDirectory) {
        message = StoreError(
            "the journal was damaged: \(error.message)", path: place.pathOf(JournalSchema.fileName),
            advice: salvaged.sentence + " What else it held is lost; files and settings are not in it.")
        events = salvaged.events
        lack = "events of a damaged journal, of which \(salvaged.events) could be read"
    }

    /// Its file has another name now, or none.
    init(ofLostIn place: StoreDirectory) {
        message = StoreError(
            "the journal was removed or replaced while it was in use", path: place.pathOf(JournalSchema.fileName),
            advice: "What is there now is used, or a new one was begun. What the other held is not in it: earlier "
                + "events, and when files were last used.")
        events = 0
        lack = "events of a journal that was removed or replaced"
    }
}
