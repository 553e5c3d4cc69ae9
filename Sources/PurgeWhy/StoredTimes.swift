import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// When a file of a store was made and written, by the clock of the host: the device's clock changes nothing in a store.
enum StoredTimes {
    /// Since when at least there is such a file: a copy of a store that another program has made has later birth times, and
    /// a file that was unpacked an earlier mtime. nil if that is not known.
    static func since(_ path: String) -> String? {
        do throws(Errno) {
            let name = path.utf8.map(CChar.init(bitPattern:)) + [0]
            let file = try FileDescriptor.open(path, System.openPath | O_NOFOLLOW)
            guard let made = try StoredBirth.of(file.raw, nil) else { return nil }
            return try min(made, written(name)).iso8601
        } catch { return nil }
    }

    /// When its data was last written, or its mtime set.
    static func written(_ path: [UInt8]) -> String? {
        do throws(Errno) { return try written(path.map(CChar.init(bitPattern:)) + [0]).iso8601 } catch { return nil }
    }

    private static func written(_ name: [CChar]) throws(Errno) -> Instant {
        Instant(try System.status(at: AT_FDCWD, name).st_mtim)
    }
}
