import Glibc
import PurgeSystem

/// Disk room that the journal reserves, so that a full disk can still be recorded: allocated, empty blocks past the end of the
/// file and of its rollback journal.
struct JournalReserve: Sendable {
    /// Bytes for about 10,000 events and for the pages that a transaction changes.
    private static let forEvents: Int64 = 1 << 20
    private static let forRollback: Int64 = 1 << 18

    private let journal: FileDescriptor

    /// Opens the journal and, unless the disk is nearly full, reserves room for its rollback journal. `keep` reserves room for
    /// events. Fails if a file cannot be opened or the room cannot be allocated.
    init?(_ place: StoreDirectory) {
        do throws(Errno) {
            journal = try place.descriptor.openFile(JournalSchema.fileName, O_RDWR)
            guard Self.hasRoom(journal.raw) else { return }
            let rollback = try Self.rollback(place)
            try System.reserve(rollback.raw, from: 0, bytes: Self.forRollback)
        } catch { return nil }
    }

    /// Opens the rollback journal, and creates it if SQLite has not done so yet.
    private static func rollback(_ place: StoreDirectory) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            let name = JournalSchema.rollbackName
            let made = try place.descriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            place.giveToOwner(made.raw)
            return made
        } catch .exists {
            return try place.descriptor.openFile(JournalSchema.rollbackName, O_WRONLY)
        }
    }

    /// Replenishes the room for events, unless the disk is nearly full. Events that find no room wait in memory.
    func keep() {
        guard Self.hasRoom(journal.raw) else { return }
        do throws(Errno) {
            try System.reserve(journal.raw, from: try size, bytes: Self.forEvents)
        } catch {}
    }

    /// Whether the disk has room for a reserve. On a nearly full disk the last blocks are left to the store itself, because a
    /// failed allocation would keep the blocks that it got.
    private static func hasRoom(_ file: Int32) -> Bool {
        do throws(Errno) {
            let disk = try System.fileSystemStatus(file)
            let (bytes, isMore) = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
            return isMore || bytes >= UInt64(4 * (forEvents + forRollback))
        } catch { return false }
    }

    /// Releases the blocks past the journal's end. The caller makes sure that no other process can write to it.
    func release() {
        do throws(Errno) { try System.truncate(journal.raw, try size) } catch {}
    }

    private var size: Int64 {
        get throws(Errno) { Int64(try System.status(journal.raw).st_size) }
    }
}
