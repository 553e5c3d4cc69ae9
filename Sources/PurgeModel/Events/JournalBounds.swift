/// The limits on what a store's journal keeps.
public struct JournalBounds: Hashable, Sendable {
    /// The largest size of the journal file; 0 records neither events nor samples.
    public package(set) var size = Self.usualSize
    /// The age, by the device's clock, at which events are deleted; 0 for no limit.
    public package(set) var age = TimeSpan(seconds: 0)

    public init() {}
    public init(size: ByteCount, age: TimeSpan = TimeSpan(seconds: 0)) { (self.size, self.age) = (size, age) }

    public static let usualSize = ByteCount(256 << 20)
    /// The sizes that are allowed in addition to 0.
    public static let sizes = ByteCount(1 << 20)...ByteCount(1 << 30)

    public var recordsEvents: Bool { size > .zero }

    /// Parses a value of journal.size; nil unless the text is an allowed size.
    public static func size(text: some StringProtocol) -> ByteCount? {
        ByteCount(text: text).flatMap { isSize($0) ? $0 : nil }
    }
    static func isSize(_ size: ByteCount) -> Bool { size == .zero || sizes.contains(size) }

    /// A change to one of the limits.
    public enum Change: Hashable, Sendable {
        case size(ByteCount)
        case age(TimeSpan)
    }

    mutating func make(_ change: Change) throws(DeviceRefusal) {
        switch change {
        case .size(let new):
            guard Self.isSize(new) else { throw .outOfRange }
            size = new
        case .age(let new): age = new
        }
    }

    /// The first value that is invalid in a device read from a file.
    var fault: DeviceFault? {
        if !Self.isSize(size) {
            return DeviceFault(name: "journalSize", reason: "\(size.bytes) is neither 0 nor from 2^20 to 2^30")
        }
        if age.seconds < 0 || age > .longest {
            return DeviceFault(name: "journalAge", reason: "\(age.seconds) is not from 0 to 2^32 seconds")
        }
        return nil
    }
}

/// The members in device.json, each omitted while it has its usual value.
extension JournalBounds: Codable {
    private enum Member: String, CodingKey, CaseIterable { case journalSize, journalAge }
    static let members = Member.allCases.map(\.rawValue)

    public init(from decoder: any Decoder) throws {
        let file = try decoder.container(keyedBy: Member.self)
        size = try file.decodeIfPresent(ByteCount.self, forKey: .journalSize) ?? Self.usualSize
        age = TimeSpan(seconds: try file.decodeIfPresent(Int64.self, forKey: .journalAge) ?? 0)
    }

    public func encode(to encoder: any Encoder) throws {
        var file = encoder.container(keyedBy: Member.self)
        if size != Self.usualSize { try file.encode(size, forKey: .journalSize) }
        if age.seconds != 0 { try file.encode(age.seconds, forKey: .journalAge) }
    }
}
