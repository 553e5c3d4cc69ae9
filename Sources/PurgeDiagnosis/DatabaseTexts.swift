import CSQLite
import PurgeModel
import PurgeSystem

/// Finds texts in SQLite databases and in JSON, with SQLite in memory.
enum DatabaseTexts {
    private static let mostTables = 1000
    private static let mostRows = 100_000

    /// Examines the text columns of the tables in a copy of a database.
    static func database(_ image: [UInt8], _ texts: inout StaleTexts) {
        guard let memory = MemoryDatabase(image) else { return }
        var tables: [String] = []
        // Neither views nor virtual tables have a root page.
        memory.visit("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 LIMIT \(mostTables)") {
            row in
            if let name = row.text(0) { tables.append(String(decoding: name, as: UTF8.self)) }
        }
        for table in tables {
            var columns: [String] = []
            // Computing a generated column may take any time and memory.
            memory.visit("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0", Array(table.utf8)[...]) { row in
                if let name = row.text(0) { columns.append(quoted(String(decoding: name, as: UTF8.self))) }
            }
            guard !columns.isEmpty else { continue }
            let list = columns.joined(separator: ", ")
            memory.visit("SELECT \(list) FROM main.\(quoted(table)) LIMIT \(mostRows)") { row in
                for column in 0..<row.count {
                    guard let text = row.path(column) else { continue }
                    texts.note(text, in: "\(table).\(row.name(column))")
                }
            }
        }
    }

    private static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Examines the strings and member names of a JSON text.
    static func json(_ content: ArraySlice<UInt8>, _ texts: inout StaleTexts) {
        // A slash may be escaped, but nobody escapes letters.
        guard content.firstRange(of: "Containers") != nil, let memory = MemoryDatabase() else { return }
        let mark = "'Containers/Data/Application/'"
        memory.visit(
            "SELECT key, CASE type WHEN 'text' THEN atom END, fullkey FROM json_tree(?1) "
                + "WHERE instr(key, \(mark)) OR type = 'text' AND instr(atom, \(mark))", content
        ) { row in
            for column: Int32 in 0...1 {
                guard let text = row.path(column) else { continue }
                texts.note(text, in: row.text(2).map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }
}

/// A connection to SQLite on a copy in memory, so that an app's file is neither locked nor changed. Generated columns must
/// not be read: their expressions obey no time limit.
final class MemoryDatabase {
    private let handle: OpaquePointer
    private let deadline = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    /// The time limit in nanoseconds for all queries together.
    private static let time: Int64 = 2_000_000_000

    /// Opens a copy of a database, or an empty one. Returns nil if that fails.
    init?(_ image: [UInt8]? = nil) {
        deadline.initialize(to: System.uptime() + Self.time)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            deadline.deallocate()
            return nil
        }
        handle = opened
        _ = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20)  // bytes of one value
        sqlite3_progress_handler(
            handle, 1000,
            { System.uptime() > ($0?.assumingMemoryBound(to: Int64.self).pointee ?? 0) ? 1 : 0 }, deadline)
        guard sqlite3_exec(handle, "PRAGMA trusted_schema = OFF", nil, nil, nil) == SQLITE_OK,
            image.map(load) ?? true
        else { return nil }
    }

    deinit {
        sqlite3_close_v2(handle)
        deadline.deallocate()
    }

    private func load(_ image: [UInt8]) -> Bool {
        guard image.count >= 100, let memory = sqlite3_malloc64(UInt64(image.count)) else { return false }
        image.withUnsafeBytes {
            memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
        }
        let bytes = memory.assumingMemoryBound(to: UInt8.self)
        // A database in memory cannot have a write-ahead log. So the header's write version and read version become 1, which
        // means a rollback journal.
        (bytes[18], bytes[19]) = (1, 1)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
        let size = Int64(image.count)
        return sqlite3_deserialize(handle, "main", bytes, size, size, flags) == SQLITE_OK
    }

    /// The current row of a query.
    struct Row {
        fileprivate let statement: OpaquePointer

        var count: Int32 { sqlite3_column_count(statement) }

        func name(_ column: Int32) -> String {
            sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
        }

        /// Returns the beginning of a text; nil for any other value.
        func text(_ column: Int32) -> ArraySlice<UInt8>? { text(column) { _ in true } }

        /// Returns the beginning of a text that may begin with a path or a file URL; nil for any other value.
        func path(_ column: Int32) -> ArraySlice<UInt8>? {
            text(column) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "f") }
        }

        private func text(_ column: Int32, where begins: (UInt8) -> Bool) -> ArraySlice<UInt8>? {
            guard sqlite3_column_type(statement, column) == SQLITE_TEXT,
                let bytes = sqlite3_column_text(statement, column), begins(bytes.pointee)
            else { return nil }
            let count = min(Int(sqlite3_column_bytes(statement, column)), ContainerPath.longest)
            return Array(UnsafeBufferPointer(start: bytes, count: count))[...]
        }
    }

    /// Passes the rows of a query to `body`, until an error or the time limit ends it. `text` is bound to its parameter.
    func visit(_ query: String, _ text: ArraySlice<UInt8>? = nil, _ body: (Row) -> Void) {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, query, -1, &prepared, nil) == SQLITE_OK, let prepared else { return }
        defer { sqlite3_finalize(prepared) }
        if let text { bind(text, to: prepared) }
        while System.uptime() <= deadline.pointee, sqlite3_step(prepared) == SQLITE_ROW {
            body(Row(statement: prepared))
        }
    }

    private func bind(_ text: ArraySlice<UInt8>, to statement: OpaquePointer) {
        // SQLITE_TRANSIENT, which makes SQLite copy the text. Swift does not import the macro, because it casts -1.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        text.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            sqlite3_bind_text(statement, 1, start, Int32(bytes.count), transient)
        }
    }
}
