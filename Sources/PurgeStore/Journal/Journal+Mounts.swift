extension Journal {
    /// Returns whether the last mount in the journal has no unmount after it. If the journal has neither event, returns whether
    /// it has other events and was not closed. Returns false for a journal that was damaged, or could not be opened at first.
    public func endsWithinAMount() throws(StoreError) -> Bool {
        if openingFailure != nil || wasDamaged { return false }
        let isWithin = try withDatabase { (database) throws(DatabaseError) -> Bool in
            let (mount, unmount) = (try Self.newest("mount", in: database), try Self.newest("unmount", in: database))
            if mount != unmount { return mount > unmount }
            guard wasLeftOpen else { return false }
            return try database.number("SELECT EXISTS (SELECT 1 FROM events)") == 1
        }
        // The query above may have found damage.
        return isWithin && !wasDamaged
    }

    /// Returns the number of the newest event of `type` without a path; 0 if there is none.
    private static func newest(_ type: String, in database: Database) throws(DatabaseError) -> Int64 {
        try database.number(newest(type)) ?? 0
    }
    /// Returns a query that an index answers quickly even in a long journal, because a mount waits for the answer.
    static func newest(_ type: String) -> String {
        "SELECT seq FROM events WHERE path IS NULL AND type = '\(type)' ORDER BY seq DESC LIMIT 1"
    }
}
