import CSQLite
import PurgeModel

extension Journal {
    /// When a file was last used, kept over an unmount (docs/RULES.md, Order of purging).
    public struct LastUse: Hashable, Sendable {
        public var inode: UInt64
        /// A mark of its birth time, or 0 if that is not known: distinguishes the file from a later one with the same
        /// inode number.
        public var birth: Int64
        public var lastUse: Instant

        public init(inode: UInt64, birth: Int64, lastUse: Instant) {
            self.inode = inode
            self.birth = birth
            self.lastUse = lastUse
        }
    }

    /// Adds or replaces records by inode; all or none.
    public func saveLastUses(_ uses: [LastUse]) throws(StoreError) {
        if uses.isEmpty { return }
        try withDatabase { (database) throws(DatabaseError) in
            try database.transaction { () throws(DatabaseError) in try Self.insert(uses, into: database) }
        }
    }

    /// Drops the records of files that are gone; all or none.
    public func forgetLastUses(of inodes: [UInt64]) throws(StoreError) {
        if inodes.isEmpty { return }
        try withDatabase { (database) throws(DatabaseError) in
            try database.transaction { () throws(DatabaseError) in
                let deletion = try database.prepare("DELETE FROM last_uses WHERE inode = ?")
                for inode in inodes {
                    try deletion.bind(Int64(bitPattern: inode), 1)
                    try deletion.run()
                }
            }
        }
    }

    /// Empty if the journal cannot be opened yet.
    public func lastUses() throws(StoreError) -> [UInt64: LastUse] {
        if openingFailure != nil { return [:] }
        return try withDatabase { (database) throws(DatabaseError) in try Self.lastUses(from: database) }
    }

    static func lastUses(from database: Database) throws(DatabaseError) -> [UInt64: LastUse] {
        var uses: [UInt64: LastUse] = [:]
        let rows = try database.prepare(lastUseSelection)
        while try rows.step() {
            let use = lastUse(rows)
            // Each inode has one: pages that lead back into themselves would never end.
            guard uses.updateValue(use, forKey: use.inode) == nil else {
                throw DatabaseError(code: SQLITE_CORRUPT, message: "inode \(use.inode) is in it twice")
            }
        }
        return uses
    }
}

// Rows of the table `last_uses`.
extension Journal {
    static let lastUseSelection = "SELECT inode, birth, last_use FROM last_uses"
    static let lastUseInsertion = "INSERT OR REPLACE INTO last_uses(inode, birth, last_use) VALUES(?, ?, ?)"

    static func lastUse(_ row: borrowing Statement) -> LastUse {
        LastUse(
            inode: UInt64(bitPattern: row.number(0) ?? 0), birth: row.number(1) ?? 0,
            lastUse: Instant(nanoseconds: row.number(2) ?? 0))
    }

    static func insert(_ use: LastUse, with statement: borrowing Statement) throws(DatabaseError) {
        try statement.bind(Int64(bitPattern: use.inode), 1)
        try statement.bind(use.birth, 2)
        try statement.bind(use.lastUse.nanoseconds, 3)
        try statement.run()
    }

    private static func insert(_ uses: [LastUse], into database: Database) throws(DatabaseError) {
        let insertion = try database.prepare(lastUseInsertion)
        for use in uses { try insert(use, with: insertion) }
    }
}
