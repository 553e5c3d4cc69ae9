/// A journal was damaged, and its use goes on with what could be read.
public struct JournalDamage: Sendable {
    /// For a person.
    public let message: StoreError
    /// How many events could be read.
    public let events: Int64

    init(_ error: DatabaseError, _ salvaged: SalvagedJournal, in place: StoreDirectory) {
        message = StoreError(
            "the journal was damaged: \(error.message)", path: place.pathOf(JournalSchema.fileName),
            advice: salvaged.sentence + " What else it held is lost; files and settings are not in it.")
        events = salvaged.events
    }
}
