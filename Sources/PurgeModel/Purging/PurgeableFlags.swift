/// A file's mark in the form of APFS's ioctls (docs/XATTRS.md, The ioctl).
public struct PurgeableFlags: Hashable, Sendable {
    public let bits: UInt64

    public init(bits: UInt64) { self.bits = bits }

    private static let marked: UInt64 = 0x10000
    /// The kind of data. Accepted, but not kept.
    private static let kind: UInt64 = 0xFF
    private static let urgencies: [(bit: UInt64, urgency: Urgency)] = [(0x200, .low), (0x400, .medium), (0x800, .high)]

    /// The flags of a file's own mark. No flag is set for a file that has no mark or is marked as not purgeable.
    public init(_ mark: PurgeMark?) {
        let bit = Self.urgencies.first { $0.urgency == mark?.urgency }?.bit
        bits = bit.map { $0 | Self.marked } ?? 0
    }

    /// The mark that the flags ask for. It is nil for unknown bits, for several urgencies, and for an urgency without the mark.
    /// A mark without an urgency is low. With neither, the file is marked as not purgeable.
    public var mark: PurgeMark? {
        let rest = bits & ~(Self.marked | Self.kind)
        let urgency = Self.urgencies.first { $0.bit == rest }?.urgency
        guard rest == 0 || urgency != nil else { return nil }
        if bits & Self.marked != 0 { return .purgeable(urgency ?? .low) }
        return rest == 0 ? .notPurgeable : nil
    }
}
