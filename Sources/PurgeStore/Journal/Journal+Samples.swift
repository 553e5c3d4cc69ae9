import PurgeModel

extension Journal {
    /// At most this many samples are kept. When there would be more, every second one of the older half goes, so that
    /// what is long past is known less exactly.
    public static let sampleCapacity: Int64 = 10_000

    /// Adds samples, all or none.
    public func append(_ samples: [StorageSample]) throws(StoreError) {
        if samples.isEmpty { return }
        try withDatabase { (database) throws(DatabaseError) in
            try database.transaction { () throws(DatabaseError) in
                let insertion = try database.prepare(SampleRow.insertion)
                for sample in samples { try SampleRow.insert(sample, with: insertion) }
                while try database.number("SELECT count(*) FROM samples") ?? 0 > Self.sampleCapacity {
                    try Self.thinOut(database)
                }
            }
        }
    }

    private static func thinOut(_ database: Database) throws(DatabaseError) {
        try database.execute(
            """
            DELETE FROM samples WHERE id IN (
                SELECT id FROM (
                    SELECT id, row_number() OVER (ORDER BY id) AS place FROM samples ORDER BY id
                    LIMIT (SELECT count(*) / 2 FROM samples)
                ) WHERE place % 2 = 0)
            """)
    }
}
