import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// The times at which a file in a store was created and written, by the host's clock: the device's clock does not touch the
/// store.
enum StoredTimes {
    /// Returns the earliest time at which the file may have existed, or nil if unknown. This is the earlier of birth time and
    /// mtime: a copy of a store made by another program has later birth times, and an unpacked file has an earlier mtime.
    static func since(_ path: String) -> String? {
        do throws(Errno) {
            let name = path.utf8.map(CChar.init(bitPattern:)) + [0]
            let file = try FileDescriptor.open(path, System.openPath | O_NOFOLLOW)
            guard let made = try StoredBirth.of(file.raw, nil) else { return nil }
            return try min(made, written(name)).iso8601
        } catch { return nil }
    }

    /// Returns when the data was last written or the mtime was set; nil if that cannot be read.
    static func written(_ path: [UInt8]) -> String? {
        do throws(Errno) { return try written(path.map(CChar.init(bitPattern:)) + [0]).iso8601 } catch { return nil }
    }

    private static func written(_ name: [CChar]) throws(Errno) -> Instant {
        Instant(try System.status(at: AT_FDCWD, name).st_mtim)
    }
}
