import CSQLite
import Glibc
import PurgeSystem

extension JournalFiles {
    /// Opens the journal of a store that no other process holds, without changing the store; returns nil if there is none.
    /// After a killed writer, SQLite would write to the database before reading it. In that case this opens a copy, which has
    /// already been unlinked when this returns.
    func openAtRest() throws(DatabaseError) -> Database? {
        let copy: JournalCopy?
        do throws(Errno) {
            guard try place.descriptor.kind(of: JournalSchema.fileName) != nil else { return nil }
            copy = try changesWhenRead() ? try JournalCopy(of: place.descriptor) : nil
        } catch .invalid, Errno(ELOOP) {
            throw DatabaseError(code: SQLITE_CANTOPEN, message: "it is not a plain file")
        } catch { throw DatabaseError(code: SQLITE_CANTOPEN, message: "it cannot be copied: \(error)") }
        defer { withExtendedLifetime(copy) {} }
        return try JournalSchema.openForReading(copy?.place ?? place.databasePlace(of: JournalSchema.fileName))
    }

    /// Returns the number of the newest readable event in a damaged journal; 0 if none can be read. This process must not have
    /// the journal open.
    func lastReadable() -> Int64 {
        if seemsToUseLog { return 0 }
        do throws(Errno) {
            // A copy without the stray log, which SQLite would apply.
            let copy = hasStrayLog ? try JournalCopy(of: place.descriptor) : nil
            defer { withExtendedLifetime(copy) {} }
            return JournalSalvage.lastSequence(in: copy?.place ?? place.databasePlace(of: JournalSchema.fileName))
        } catch { return 0 }
    }

    /// Whether there is a rollback journal that is not empty, and so may have to be applied.
    private func changesWhenRead() throws(Errno) -> Bool {
        do throws(Errno) {
            return try System.status(at: place.descriptor.raw, JournalSchema.rollbackName).st_size > 0
        } catch .noEntry { return false }
    }
}

/// A copy of a journal and its rollback journal, in a directory of its own that is removed with this object.
private final class JournalCopy {
    /// The longest file that is copied, in bytes. A full journal of the usual size has a quarter of that.
    private static let longest: Int64 = 1 << 30

    private let path: String
    private let directory: FileDescriptor
    var place: DatabasePlace { DatabasePlace(directory: directory, name: JournalSchema.fileName) }

    init(of store: FileDescriptor) throws(Errno) {
        let parent = getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? "/tmp"
        (path, directory) = try NewDirectory.makeTemporary(prefix: parent + "/purgefs-journal-")
        try copy(JournalSchema.fileName, from: store)
        do throws(Errno) { try copy(JournalSchema.rollbackName, from: store) } catch .noEntry {}
    }

    deinit {
        for name in [JournalSchema.rollbackName, JournalSchema.fileName] {
            do throws(Errno) { try System.unlink(at: directory.raw, name) } catch {}
        }
        do throws(Errno) { try System.removeDirectory(at: AT_FDCWD, path) } catch {}
    }

    private func copy(_ name: String, from store: FileDescriptor) throws(Errno) {
        let source = try store.openFile(name, O_RDONLY)
        guard try System.status(source.raw).st_size <= Self.longest else { throw .fileTooLarge }
        let target = try directory.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        while true {
            let chunk = try source.readSome(1 << 20)
            if chunk.isEmpty { return }
            try target.writeAll(chunk)
        }
    }
}
