import Glibc
import PurgeModel
import PurgeSystem

/// When an entry of a store was made. No program can set a file's birth time, so what a copy of a store begins with has
/// the original's beside it, in a hidden attribute, which counts if it is earlier than the birth time itself.
public enum StoredBirth {
    static let key = "user.purgefs.born"

    /// In real time; nil if neither the attribute nor the file system tells.
    public static func of(_ directory: Int32, _ name: CName?) throws(Errno) -> Instant? {
        earlier(try recorded(of: directory, name), than: try own(of: directory, name))
    }

    /// The birth time that its file system keeps, in nanoseconds.
    package static func own(of directory: Int32, _ name: CName?) throws(Errno) -> Int64? {
        do throws(Errno) {
            if let name { return try System.birthTime(at: directory, name) }
            return try System.birthTime(at: directory, "")
        } catch .noData { return nil }
    }

    /// Remembers it for a file or folder of a new store. If it has no room for that, it was made when it was copied.
    package static func record(_ birth: Instant, of directory: Int32, _ name: CName?) throws(Errno) {
        do throws(Errno) {
            try System.setAttribute(at: directory, name, key, Array(FileTime(birth).text.utf8))
        } catch {
            guard error.meansNoRoomForAttribute else { throw error }
        }
    }

    /// What holds for an entry with this attribute and this birth time of its own.
    static func earlier(_ recorded: Instant?, than own: Int64?) -> Instant? {
        if let recorded, recorded.nanoseconds < own ?? System.now() { return recorded }
        return own.map(Instant.init(nanoseconds:))
    }

    /// nil for anything that `record` cannot have made.
    static func instant(_ value: [UInt8]) -> Instant? {
        FileTime(utf8: value).map {
            Instant(seconds: $0.seconds, nanoseconds: $0.nanoseconds)
        }
    }

    private static func recorded(of directory: Int32, _ name: CName?) throws(Errno) -> Instant? {
        do throws(Errno) {
            return try StoredAttributes.value(of: directory, name, key).flatMap(instant)
            // EINVAL: the file is in a container, where no program can read it.
        } catch .notSupported, .notPermitted, .accessDenied, .invalid { return nil }
    }
}
