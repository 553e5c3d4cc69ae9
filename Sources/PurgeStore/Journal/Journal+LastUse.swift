import CSQLite
import PurgeModel

extension Journal {
    /// The last use of a file, kept across mounts (docs/RULES.md, Order of purging).
    public struct LastUse: Hashable, Sendable {
        public var inode: UInt64
        /// The file's `BirthMark`, or 0 if the birth time is not known. It distinguishes the file from a later one with the
        /// same inode number.
        public var birth: Int64
        public var lastUse: Instant

        public init(inode: UInt64, birth: Int64, lastUse: Instant) {
            self.inode = inode
            self.birth = birth
            self.lastUse = lastUse
        }
    }

    /// Adds or replaces records by inode, all or none.
    public func saveLastUses(_ uses: [LastUse]) throws(StoreError) {
        if uses.isEmpty { return }
        try changeLastUses { (database) throws(DatabaseError) in try LastUseRow.insert(uses, into: database) }
    }

    /// Drops the records of removed files, all or none.
    public func forgetLastUses(of inodes: [UInt64]) throws(StoreError) {
        if inodes.isEmpty { return }
        try changeLastUses { (database) throws(DatabaseError) in
            let deletion = try database.prepare("DELETE FROM last_uses WHERE inode = ?")
            for inode in inodes {
                try deletion.bind(Int64(bitPattern: inode), 1)
                try deletion.run()
            }
        }
    }

    /// Returns the last uses by inode; none if the first attempt to open the journal failed.
    public func lastUses() throws(StoreError) -> [UInt64: LastUse] {
        if openingFailure != nil { return [:] }
        return try withDatabase { (database) throws(DatabaseError) in try LastUseRow.lastUses(from: database) }
    }
}
