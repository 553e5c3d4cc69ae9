import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

extension FileStatus {
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    /// In bytes; never below zero, whatever the file system reports.
    var size: Int64 { max(0, Int64(st_size)) }
    var nodeKind: NodeKind {
        switch st_mode & S_IFMT {
        case S_IFREG: .regular
        case S_IFDIR: .directory
        case S_IFLNK: .symbolicLink
        default: .special
        }
    }
}

// The one conversion between times of the kernel and of the model.
extension Instant {
    init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }
}

extension timespec {
    init(_ instant: Instant) {
        let (seconds, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        // The fraction of a second is never negative.
        self.init(tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
    }
}
