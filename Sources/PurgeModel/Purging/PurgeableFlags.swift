/// The mark of a file or directory in the form of APFS's ioctls (docs/XATTRS.md, The ioctl).
public struct PurgeableFlags: Hashable, Sendable {
    public let bits: UInt64

    public init(bits: UInt64) { self.bits = bits }

    private static let marked: UInt64 = 0x10000
    /// The kind of data. Accepted, but not kept.
    private static let kind: UInt64 = 0xFF
    /// The mark of a directory is for its entries. Without this bit, too, the mark of a directory applies to everything below
    /// it, so the bit changes nothing when it is set.
    private static let children: UInt64 = 0x2000
    private static let urgencies: [(bit: UInt64, urgency: Urgency)] = [(0x200, .low), (0x400, .medium), (0x800, .high)]

    /// The flags of an entry's own mark. No flag is set for an entry that has no mark or is marked as not purgeable.
    public init(_ mark: PurgeMark?, isDirectory: Bool) {
        let bit = Self.urgencies.first { $0.urgency == mark?.urgency }?.bit
        bits = bit.map { $0 | Self.marked | (isDirectory ? Self.children : 0) } ?? 0
    }

    /// The mark that the flags ask for. It is nil for unknown bits, for several urgencies, and for an urgency or the
    /// `children` bit without the `marked` bit. A mark without an urgency is low. Without any of these bits, the entry is not
    /// purgeable; the kind of data is ignored.
    public var mark: PurgeMark? {
        guard bits & Self.marked != 0 else { return bits & ~Self.kind == 0 ? .notPurgeable : nil }
        let rest = bits & ~(Self.marked | Self.kind | Self.children)
        let urgency = Self.urgencies.first { $0.bit == rest }?.urgency
        return rest == 0 || urgency != nil ? .purgeable(urgency ?? .low) : nil
    }
}
