import Glibc
import PurgeModel
import PurgeSystem

/// When a file of a store was made, written and last used, by the device's clock, as a mount finds it out.
public struct FileLife {
    /// nil if its file system does not keep that.
    public let born: Instant?
    public let written: Instant
    /// Its file's own birth time, in nanoseconds, which distinguishes it from others that had its inode number.
    private let birth: Int64?

    public init(_ status: FileStatus, birth: Int64?, _ attributes: StoredAttributes, on clock: FileClock) {
        let modified = clock.shown(
            FileTime(status.st_mtim), .modification, of: attributes.times ?? SetTimes())
        born = StoredBirth.earlier(attributes.born, than: birth).map { clock.time(of: FileTime($0)) }
        written = clock.time(shownAs: modified)
        self.birth = birth
    }

    /// Of an open file.
    public init(of file: Int32, _ status: FileStatus, on device: Device) throws(Errno) {
        self.init(
            status, birth: try StoredBirth.own(of: file, nil), try StoredAttributes(of: file, nil),
            on: device.fileClock)
    }

    /// A day, in nanoseconds: if the clock was corrected since the last mount, the order of uses is kept.
    private static let clockError: Int64 = 86_400_000_000_000

    /// `journal` is the record under its inode number.
    public func lastUse(_ journal: Journal.LastUse?, now: Instant) -> Instant {
        let born = born ?? .distantPast
        // A record with another birth time is that of a file that had this inode number before, and so is an older one
        // where birth times are not known. A copy of a store has files that were used before they were made.
        if let journal, BirthMark.isSame(journal.birth, birth),
            journal.lastUse >= born || BirthMark.isKnown(journal.birth, birth)
        {
            // The machine's clock may have been ahead.
            return journal.lastUse.nanoseconds > now.nanoseconds &+ Self.clockError ? now : journal.lastUse
        }
        // An app may have set mtime to any time; data cannot have been written in the future.
        return max(born, min(written, now))
    }
}
