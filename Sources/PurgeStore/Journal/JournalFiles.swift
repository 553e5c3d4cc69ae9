import CSQLite
import Glibc
import PurgeSystem

/// The entries with the names of the journal and of the files beside it, before SQLite opens them.
struct JournalFiles {
    /// How many of the newest damaged journals are kept besides the oldest one.
    private static let newestKept = 2

    let place: StoreDirectory
    init(_ place: StoreDirectory) { self.place = place }

    /// Refuses entries that are not plain files, foreign databases, and a write-ahead log that the journal does not use. SQLite
    /// would report only that it cannot open an odd entry, and would notice an odd rollback journal only when it writes. It
    /// would also apply the log.
    func check() throws(DatabaseError) {
        if let kind = oddKind(of: JournalSchema.fileName) {
            throw .foreign("is \(kind), not a journal of purgefs")
        }
        for part in StoreDirectory.journalParts {
            let name = JournalSchema.fileName + part
            if let kind = oddKind(of: name) { throw .foreign("the journal has \(kind) beside it, `\(name)`") }
        }
        if usesLog { throw .foreign("is a database of another program, not a journal of purgefs") }
        if seemsToUseLog { throw DatabaseError(code: SQLITE_NOTADB, message: "its header is wrong") }
        if hasStrayLog {
            throw DatabaseError(
                code: SQLITE_CORRUPT, message: "`\(JournalSchema.logName)` beside it is of another database")
        }
    }

    struct FileIdentity: Hashable {
        var device: dev_t
        var inode: ino_t
    }
    /// The device and inode of the journal; nil if they cannot be read.
    var identity: FileIdentity? { do throws(Errno) { return try found() } catch { return nil } }

    private func found() throws(Errno) -> FileIdentity {
        let status = try System.status(at: place.descriptor.raw, JournalSchema.fileName)
        return FileIdentity(device: status.st_dev, inode: status.st_ino)
    }

    /// Whether another program has removed or replaced the file.
    func haveLost(_ file: FileIdentity) -> Bool {
        do throws(Errno) { return try found() != file } catch { return error == .noEntry }
    }

    /// Returns the kind of an entry in words; nil for a plain file, a missing entry, or one that cannot be examined.
    func oddKind(of name: String) -> String? {
        do throws(Errno) {
            return switch try place.descriptor.kind(of: name) {
            case nil, S_IFREG: nil
            case S_IFLNK: "a symbolic link"
            case S_IFDIR: "a directory"
            case S_IFIFO: "a FIFO"
            case S_IFSOCK: "a socket"
            default: "a device"
            }
        } catch { return nil }
    }

    /// Whether there is a write-ahead log although the journal uses none. SQLite would write the log's pages into the journal
    /// all the same.
    var hasStrayLog: Bool {
        do throws(Errno) {
            return try System.status(at: place.descriptor.raw, JournalSchema.logName).st_size > 0 && !usesLog
        } catch { return false }
    }

    /// The version of the file format that stands for a write-ahead log.
    private static let log: UInt8 = 2
    /// The versions of the file format for writing and for reading; nil if the file has no header of a database.
    private var modes: (writing: UInt8, reading: UInt8)? {
        do throws(Errno) {
            let head = try place.descriptor.openFile(JournalSchema.fileName, O_RDONLY).readSome(20)
            return head.count == 20 && head.starts(with: "SQLite format 3\0".utf8) ? (head[18], head[19]) : nil
        } catch { return nil }
    }

    /// Whether both versions in the file's header stand for a write-ahead log, which no journal uses. SQLite would apply such a
    /// log as soon as it opens the database. If only one version does, the header may be damaged.
    private var usesLog: Bool { modes.map { $0 == (Self.log, Self.log) } ?? false }
    /// Whether SQLite would look for a write-ahead log, for which it needs only the version for reading.
    var seemsToUseLog: Bool { modes?.reading == Self.log }

    /// Removes all damaged journals except the oldest and the `newestKept` newest. The oldest usually has most of the history.
    /// Files kept aside as foreign always stay.
    func removeOldDamaged() {
        do throws(StoreError) {
            let prefix = "\(JournalSchema.fileName).damaged-"
            let newest = try place.numberAside(for: JournalSchema.fileName, .damaged) - Self.newestKept
            let found = try place.names().filter { $0.hasPrefix(prefix) }.map { name in
                (name, number: Int(name.dropFirst(prefix.count).prefix { $0.isNumber }) ?? .max)
            }
            let oldest = found.map { $0.number }.min()
            for (name, number) in found where number < newest && number != oldest {
                // The next call tries again to remove a journal that stays.
                do throws(Errno) { try place.remove(name) } catch {}
            }
        } catch {}
    }
}
