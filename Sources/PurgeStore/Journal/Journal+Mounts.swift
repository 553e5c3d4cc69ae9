extension Journal {
    /// Whether the last mount that it tells of did not end with an unmount. Its beginning may have been dropped: then the
    /// mount did not end if the journal was not closed. What is left of a damaged journal does not tell.
    public func endsWithinAMount() throws(StoreError) -> Bool {
        if openingFailure != nil || wasDamaged { return false }
        let isWithin = try withDatabase { (database) throws(DatabaseError) -> Bool in
            let newest = try database.text(
                "SELECT type FROM events WHERE type IN ('mount', 'unmount') ORDER BY seq DESC LIMIT 1")
            if let newest { return newest == "mount" }
            guard wasLeftOpen else { return false }
            return try database.number("SELECT EXISTS (SELECT 1 FROM events)") == 1
        }
        // The damage may have been found by this.
        return isWithin && !wasDamaged
    }
}
