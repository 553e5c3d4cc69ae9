import CSQLite
import Glibc
import PurgeSystem

extension JournalFiles {
    /// The journal of a store that no other process holds, opened without any change to the store; nil if
    /// there is none. If a writer was killed, or there is a write-ahead log, SQLite writes to a database before
    /// it reads it: then a copy is opened, whose names are gone when this returns.
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

    private func changesWhenRead() throws(Errno) -> Bool {
        for part in JournalCopy.parts {
            do throws(Errno) {
                if try System.status(at: place.descriptor.raw, JournalSchema.fileName + part).st_size > 0 {
                    return true
                }
            } catch .noEntry {}
        }
        // The file format's numbers for writing and for reading; 2 is a write-ahead log.
        let head = try place.descriptor.openFile(JournalSchema.fileName, O_RDONLY).readSome(20)
        return head.dropFirst(18).contains(2)
    }
}

/// A copy of a journal and of what SQLite keeps beside it, in a directory of its own that is removed with this object.
private final class JournalCopy {
    /// What may be beside a database; the index of a write-ahead log is rebuilt.
    static let parts = ["-wal", "-journal"]
    /// The longest file that is copied, in bytes; a full journal has a quarter of that.
    private static let longest: Int64 = 1 << 30

    private let path: String
    private let directory: FileDescriptor
    var place: DatabasePlace { DatabasePlace(directory: directory, name: JournalSchema.fileName) }

    init(of store: FileDescriptor) throws(Errno) {
        let parent = getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? "/tmp"
        (path, directory) = try NewDirectory.makeTemporary(prefix: parent + "/purgefs-journal-")
        try copy("", from: store)
        for part in Self.parts {
            do throws(Errno) { try copy(part, from: store) } catch .noEntry {}
        }
    }

    deinit {
        for part in Self.parts + ["", "-shm"] {
            do throws(Errno) { try System.unlink(at: directory.raw, JournalSchema.fileName + part) } catch {}
        }
        do throws(Errno) { try System.removeDirectory(at: AT_FDCWD, path) } catch {}
    }

    private func copy(_ part: String, from store: FileDescriptor) throws(Errno) {
        let source = try store.openFile(JournalSchema.fileName + part, O_RDONLY)
        guard try System.status(source.raw).st_size <= Self.longest else { throw .fileTooLarge }
        let target = try directory.open(
            JournalSchema.fileName + part, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        while true {
            let chunk = try source.readSome(1 << 20)
            if chunk.isEmpty { return }
            try target.writeAll(chunk)
        }
    }
}
