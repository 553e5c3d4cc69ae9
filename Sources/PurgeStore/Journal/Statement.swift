import CSQLite

/// A prepared statement, finalized when it is destroyed.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    /// Keeps the connection open, and limits the time of each step.
    private let database: Database

    init(_ database: Database, _ connection: OpaquePointer, _ sql: String) throws(DatabaseError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw DatabaseError(connection, code: code) }
        (handle, self.connection, self.database) = (prepared, connection, database)
    }

    deinit { sqlite3_finalize(handle) }

    /// Advances to the next row. Returns whether there is one.
    func step() throws(DatabaseError) -> Bool {
        database.beginStep()
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw DatabaseError(connection, code: code)
        }
    }

    /// Runs the statement for its effect and resets it for other values.
    func run() throws(DatabaseError) {
        while try step() {}
        reset()
    }

    func reset() {
        sqlite3_reset(handle)  // returns the last step's error, which has already been thrown
        sqlite3_clear_bindings(handle)
    }
}

// Values. Parameters are numbered from 1, columns from 0.
extension Statement {
    func bind(_ number: Int64?, _ parameter: Int32) throws(DatabaseError) {
        try check(number.map { sqlite3_bind_int64(handle, parameter, $0) } ?? sqlite3_bind_null(handle, parameter))
    }

    func bind(_ text: String?, _ parameter: Int32) throws(DatabaseError) {
        guard var text else { return try check(sqlite3_bind_null(handle, parameter)) }
        // SQLITE_TRANSIENT, which makes SQLite copy the text. Swift does not import the macro, because it casts -1.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code = text.withUTF8 { bytes in
            // An empty text may have no address, which SQLite would take for NULL.
            guard let start = bytes.baseAddress else { return sqlite3_bind_text(handle, parameter, "", 0, transient) }
            return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_bind_text(handle, parameter, $0, Int32(bytes.count), transient)
            }
        }
        try check(code)
    }

    func number(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    /// Returns a column as text. Bytes that are not UTF-8 become U+FFFD.
    func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw DatabaseError(connection, code: code) }
    }
}
