/// A call of the app with its answer, as `purgefs run --record` writes it: one JSON object per line (docs/POWER.md).
public struct RecordedCall: Codable, Hashable, Sendable {
    public enum Name: String, Codable, Sendable {
        case open, create, tmpfile, symlink, mknod, link, mkdir, unlink, rmdir, rename
        case read, write, fallocate, truncate, setattr, setxattr, removexattr, fsync, fsyncdir

        /// The kind of the call among those that can meet a fault.
        public var kind: MomentKind? {
            switch self {
            case .open: .open
            case .create, .tmpfile, .symlink, .mknod, .link: .create
            case .mkdir: .mkdir
            case .unlink, .rmdir: .unlink
            case .rename: .rename
            case .read: .read
            case .write, .fallocate: .write
            case .truncate: .truncate
            case .setxattr, .removexattr: .setxattr
            case .fsync, .fsyncdir: .sync
            case .setattr: nil
            }
        }
    }

    public var call: Name
    /// The number among the calls of its kind, from 1; nil for a call of no kind.
    public var moment: Int64?
    /// The path relative to the container; of a rename the old one, of a link the new one.
    public var path: String
    /// The new path of a rename, the file of a link.
    public var other: String?
    /// Identifies the file or folder that the call is about, or that it has made, while the container is mounted. Nil where the
    /// call has only a name.
    public var node: UInt64?
    /// Flags of open(2), renameat2(2) or setxattr(2), or the mode of fallocate(2).
    public var flags: UInt32?
    /// The mode of a new file, or that chmod(2) sets.
    public var mode: UInt32?
    public var owner, group: UInt32?
    /// The device number of mknod(2).
    public var device: UInt32?
    /// The first byte, and the number of bytes; of a truncation, the new size.
    public var offset, size: Int64?
    /// The times that utimensat(2) sets, in nanoseconds since 1970.
    public var accessTime, modificationTime: Int64?
    /// The name of an extended attribute, or the target of a symbolic link.
    public var text: String?
    /// The bytes written, or the value of the attribute, in base64.
    public var data: String?
    /// How many calls in the file had been answered when this one began. Only a sync has it.
    public var after: Int?
    public var process: Int32?
    /// How many bytes a read or write has transferred.
    public var result: Int64?
    /// The name of the error with which the call failed.
    public var error: String?

    public init(_ call: Name, path: String) { (self.call, self.path) = (call, path) }

    /// The kind of the call among those that can meet a fault.
    public var kind: MomentKind? { call.kind }

    /// The node of the container itself.
    public static let rootNode: UInt64 = 1

    /// Whether a rename exchanges two names: RENAME_EXCHANGE of renameat2(2).
    public var exchanges: Bool { call == .rename && (flags ?? 0) & 2 != 0 }

    /// The largest number of bytes that the kernel asks a FUSE file system for in one call, and some more.
    private static let mostBytes: Int64 = 1 << 30

    /// Whether the numbers and the names can be those of a call.
    public var isPlausible: Bool {
        guard ![path, other, text].contains(where: { $0?.utf8.contains(0) == true }) else { return false }
        let (start, length) = (offset ?? 0, max(size ?? 0, result ?? 0))
        guard call != .read && call != .write || (0...Self.mostBytes).contains(length) && (size ?? 0) >= 0 else {
            return false
        }
        // A call may fail because of its numbers.
        if error != nil { return true }
        let most: Int64 = 1 << 62
        return start >= 0 && (size ?? 0) >= 0 && (result ?? 0) >= 0 && start < most && length < most
            && start + length < most
    }

    /// Whether what was written is missing, because the record was made without `--data`.
    public var lacksData: Bool { call == .write && data == nil && (result ?? 0) > 0 }

    /// Whether a write(2) syncs what it has written: O_DSYNC, of which O_SYNC is more.
    var isSynchronous: Bool { call == .write && (flags ?? 0) & 0o10000 != 0 }
    /// O_SYNC
    var isFullySynchronous: Bool { isSynchronous && (flags ?? 0) & 0o4000000 != 0 }
    /// Whether a sync is fdatasync(2) or msync(2): FUSE_FSYNC_FDATASYNC.
    var isDataSync: Bool { call == .fsync && (flags ?? 0) & 1 != 0 }

    /// Whether an open(2) cuts the file off: O_TRUNC.
    var truncates: Bool { call == .open && (flags ?? 0) & 0o1000 != 0 }

    /// Whether the call has changed something that a loss of power may undo.
    public var isChange: Bool {
        switch call {
        case .open: truncates && error == nil
        case .read, .fsync, .fsyncdir: false
        default: error == nil
        }
    }
}
