import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

extension FileStatus {
    /// Size in bytes; never negative, whatever the file system reports.
    var size: Int64 { max(0, Int64(st_size)) }
    var nodeKind: NodeKind {
        switch kind {
        case S_IFREG: .regular
        case S_IFDIR: .directory
        case S_IFLNK: .symbolicLink
        default: .special
        }
    }
}
