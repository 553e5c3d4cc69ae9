import CSQLite
import Glibc
import PurgeSystem

struct DatabaseError: Error, Hashable {
    /// The primary result code, such as SQLITE_CORRUPT.
    var code: Int32
    var message: String
    /// The errno of the system call that failed; 0 if none did.
    var systemError: Int32 = 0
    /// Whether an entry with the name of the journal, or of a file beside it, was not made by purgefs. `message` says what the
    /// entry is.
    var isForeign = false

    /// Reduces an extended code to its primary part.
    init(code: Int32, message: String) {
        self.code = code & 0xFF
        self.message = message
    }
    init(_ handle: OpaquePointer?, code: Int32) {
        let message = handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        self.init(code: code, message: message.map { String(cString: $0) } ?? "code \(code)")
        if let handle, [SQLITE_IOERR, SQLITE_CANTOPEN].contains(self.code) {
            let lackOfRoom = DatabaseFiles.lackOfRoom.load(ordering: .relaxed)
            systemError = lackOfRoom == 0 ? sqlite3_system_errno(handle) : lackOfRoom
        }
    }

    /// A code of our own, outside SQLite's range.
    static let newerVersion: Int32 = 200
    static func foreign(_ message: String) -> DatabaseError {
        var error = DatabaseError(code: SQLITE_NOTADB, message: message)
        error.isForeign = true
        return error
    }
    static let emptied = DatabaseError(code: SQLITE_CORRUPT, message: "it was emptied")
    static let closed = DatabaseError(code: SQLITE_MISUSE, message: "it has been closed")

    /// Whether the journal is damaged, or is a foreign file. Only a mount and `purgefs check --repair` repair damage; nothing
    /// else writes to a damaged file. SQLITE_INTERRUPT means that a step took longer than a sound journal needs on a usual
    /// disk.
    var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_INTERRUPT, SQLITE_TOOBIG].contains(code) }

    /// Whether a mount replaces the journal with a new one. A mount keeps a foreign file, and a journal that took too long to
    /// read, because a slow disk may be the cause.
    var isReplaceable: Bool { isDamage && !isForeign && code != SQLITE_INTERRUPT }

    /// Whether the disk under the store has no room. Writing to the journal can then wait until there is room.
    var isForLackOfRoom: Bool { code == SQLITE_FULL || systemError == ENOSPC || systemError == EDQUOT }

    func error(path: String, store: String) -> StoreError {
        var error = failure(path: path, store: store)
        error.isForLock = code == SQLITE_BUSY || code == SQLITE_LOCKED
        error.isForLackOfRoom = isForLackOfRoom
        return error
    }

    private func failure(path: String, store: String) -> StoreError {
        switch code {
        case _ where isForeign:
            StoreError(
                message, path: path,
                advice: "It was not changed. Move it out of the store, or run "
                    + "`purgefs check --repair \(ShellWord.of(store))`, "
                    + "which renames it and starts a new journal.")
        case _ where isDamage:
            StoreError(
                "the journal is damaged: \(message)", path: path,
                advice: "Run `purgefs check --repair \(ShellWord.of(store))`: it keeps the file aside and starts "
                    + "a new journal with the events that can still be read.")
        case Self.newerVersion:
            StoreError(
                "the journal \(message)", path: path,
                advice: "Use that version of purgefs; this one leaves the file alone.")
        case _ where isForLackOfRoom:
            StoreError(
                "the journal cannot be written: \(message)", path: path,
                advice: "The disk under the store is full: make room there.")
        case _ where systemError == EMFILE || systemError == ENFILE:
            .failed("the journal cannot be opened", path: path, Errno(systemError))
        case SQLITE_BUSY, SQLITE_LOCKED:
            StoreError(
                "the journal is held by another process: \(message)", path: path,
                advice: "End the process that reads or writes it (fuser shows which), then try again.")
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
            StoreError(
                "the journal cannot be opened or written: \(message)", path: path,
                advice: "It must be a plain file that belongs to you, in a directory that you may write.")
        default:
            StoreError(
                "the journal failed: \(message)", path: path,
                advice: "Check the disk under the store (dmesg), then `purgefs check \(ShellWord.of(store))`.")
        }
    }
}
