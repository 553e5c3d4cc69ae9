/// File systems that need special treatment (docs/INTERNALS.md, Charged blocks, Attributes).
enum BackingKind: Sendable {
    case ext4, xfs, btrfs, overlay, other

    init(fileSystemType: Int64) {
        switch fileSystemType {
        case 0xEF53: self = .ext4  // also ext2 and ext3
        case 0x5846_5342: self = .xfs
        case 0x9123_683E: self = .btrfs
        case 0x794C_7630: self = .overlay
        default: self = .other
        }
    }

    /// XFS shows written blocks as holes until they are on disk; overlayfs may lie on XFS.
    var mustSyncBeforeSeek: Bool { self == .xfs || self == .overlay }
    /// When a file that ends in a hole grows, btrfs allocates the block at the old end; overlayfs may lie on btrfs.
    var fillsGrownTail: Bool { self == .btrfs || self == .overlay }
}
