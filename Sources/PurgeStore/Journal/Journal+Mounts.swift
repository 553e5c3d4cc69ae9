extension Journal {
    /// Whether the last mount that it tells of did not end with an unmount. What is left of a damaged journal does not
    /// tell.
    public func endsWithinAMount() throws(StoreError) -> Bool {
        if openingFailure != nil || wasDamaged { return false }
        return try withDatabase { (database) throws(DatabaseError) in
            try database.text(
                "SELECT type FROM events WHERE type IN ('mount', 'unmount') ORDER BY seq DESC LIMIT 1") == "mount"
        }
    }
}
