import CSQLite
import PurgeModel

/// A last use as a row of the table `last_uses`.
enum LastUseRow {
    static let selection = "SELECT inode, birth, last_use FROM last_uses"
    static let insertion = "INSERT OR REPLACE INTO last_uses(inode, birth, last_use) VALUES(?, ?, ?)"

    static func insert(_ uses: [Journal.LastUse], into database: Database) throws(DatabaseError) {
        let insertion = try database.prepare(insertion)
        for use in uses { try insert(use, with: insertion) }
    }

    static func insert(_ use: Journal.LastUse, with statement: borrowing Statement) throws(DatabaseError) {
        try statement.bind(Int64(bitPattern: use.inode), 1)
        try statement.bind(use.birth, 2)
        try statement.bind(use.lastUse.nanoseconds, 3)
        try statement.run()
    }

    /// Returns the record in the current row of a `selection`.
    static func lastUse(_ row: borrowing Statement) -> Journal.LastUse {
        Journal.LastUse(
            inode: UInt64(bitPattern: row.number(0) ?? 0), birth: row.number(1) ?? 0,
            lastUse: Instant(nanoseconds: row.number(2) ?? 0))
    }

    static func count(in database: Database) throws(DatabaseError) -> Int64 {
        try database.number("SELECT count(*) FROM last_uses") ?? 0
    }

    static func lastUses(from database: Database) throws(DatabaseError) -> [UInt64: Journal.LastUse] {
        var uses: [UInt64: Journal.LastUse] = [:]
        let rows = try database.prepare(selection)
        while try rows.step() {
            let use = lastUse(rows)
            // Each inode occurs once. In a damaged file, pages may form a cycle, and reading it would never end.
            guard uses.updateValue(use, forKey: use.inode) == nil else {
                throw DatabaseError(code: SQLITE_CORRUPT, message: "inode \(use.inode) is in it twice")
            }
        }
        return uses
    }
}
