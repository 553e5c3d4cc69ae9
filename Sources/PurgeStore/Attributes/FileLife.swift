import Glibc
import PurgeModel
import PurgeSystem

/// The times, by the device's clock, at which a file in a store was created, written and last used, as a mount determines them.
public struct FileLife {
    /// nil if neither the file system nor a copy of the store has kept the birth time.
    public let born: Instant?
    public let written: Instant
    /// The birth time in nanoseconds that the file system keeps, if any. It distinguishes the file from earlier files with the
    /// same inode number.
    private let birth: Int64?

    public init(_ status: FileStatus, birth: Int64?, _ attributes: StoredAttributes, on clock: FileClock) {
        let modified = clock.shown(
            FileTime(status.st_mtim), .modification, of: attributes.times ?? SetTimes())
        born = StoredBirth.earlier(attributes.born, than: birth).map { clock.time(of: FileTime($0)) }
        written = clock.time(shownAs: modified)
        self.birth = birth
    }

    /// Reads the times of an open file.
    public init(of file: Int32, _ status: FileStatus, on device: Device) throws(Errno) {
        self.init(
            status, birth: try StoredBirth.own(of: file, nil), try StoredAttributes(of: file, nil),
            on: device.fileClock)
    }

    /// A day in nanoseconds. A last use at most this far in the future is kept, so that correcting the machine's clock between
    /// mounts does not change the order of uses.
    private static let clockError: Int64 = 86_400_000_000_000

    /// Returns the last use of the file. `journal` is the record under the file's inode number. Without a record of this file,
    /// returns its birth or its last write, whichever is later.
    public func lastUse(_ journal: Journal.LastUse?, now: Instant) -> Instant {
        let born = born ?? .distantPast
        // A record with another birth time belongs to an earlier file with this inode number. So does a record older than the
        // file, where birth times are unknown. If both birth times are known and match, a use may precede the birth: a file in
        // a copy of a store may have been used before the copy was made.
        if let journal, BirthMark.isSame(journal.birth, birth),
            journal.lastUse >= born || BirthMark.isKnown(journal.birth, birth)
        {
            // The machine's clock may have been ahead when the use was recorded.
            return journal.lastUse.nanoseconds > now.nanoseconds &+ Self.clockError ? now : journal.lastUse
        }
        // An app can set mtime to any time, but data cannot have been written in the future.
        return max(born, min(written, now))
    }
}
