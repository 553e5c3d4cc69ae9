/// The mark of a file as the ioctls of APFS write it (docs/XATTRS.md, The ioctl).
public struct PurgeableFlags: Hashable, Sendable {
    public let bits: UInt64

    public init(bits: UInt64) { self.bits = bits }

    private static let marked: UInt64 = 0x10000
    /// What kind of data it is. Not kept.
    private static let kind: UInt64 = 0xFF
    private static let urgencies: [(bit: UInt64, urgency: Urgency)] = [(0x200, .low), (0x400, .medium), (0x800, .high)]

    /// Those of a file's own mark; nil if it has none.
    public init(_ mark: PurgeMark?) {
        let bit = Self.urgencies.first { $0.urgency == mark?.urgency }?.bit
        bits = bit.map { $0 | Self.marked } ?? 0
    }

    /// What they ask for; nil for unknown bits, several urgencies, and an urgency without the mark. Without an urgency
    /// it is low.
    public var mark: PurgeMark? {
        let rest = bits & ~(Self.marked | Self.kind)
        let urgency = Self.urgencies.first { $0.bit == rest }?.urgency
        guard rest == 0 || urgency != nil else { return nil }
        if bits & Self.marked != 0 { return .purgeable(urgency ?? .low) }
        return rest == 0 ? .notPurgeable : nil
    }
}
