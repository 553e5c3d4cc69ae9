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

extension Instant {
    init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }
}

extension BackingKind {
    /// XFS shows written blocks as holes until they are on disk; overlayfs may lie on XFS.
    var mustSyncBeforeSeek: Bool { self == .xfs || self == .overlay }
    /// btrfs makes a block of data when a file grows from within a hole.
    var fillsGrownTail: Bool { self == .btrfs || self == .overlay }
}
