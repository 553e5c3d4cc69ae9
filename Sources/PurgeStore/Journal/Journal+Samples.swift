import PurgeModel

extension Journal {
    /// At most this many samples are kept, and fewer in a small journal (`JournalRoom`). When there would be more, every
    /// second one of the older half goes, so that what is long past is known less exactly.
    public static let sampleCapacity: Int64 = 10_000

    /// Adds samples, all or none.
    public func append(_ samples: [StorageSample]) throws(StoreError) {
        if samples.isEmpty { return }
        try withRoom { (database, room) throws(DatabaseError) in
            try database.transaction { () throws(DatabaseError) in try room.add(samples) }
        }
    }
}
