/// How much the journal of a store keeps.
public struct JournalBounds: Hashable, Sendable {
    /// How long its file may be; 0 if no events are recorded.
    public package(set) var size = Self.usualSize
    /// Events that are older by the device's clock go; 0 if they may have any age.
    public package(set) var age = TimeSpan(seconds: 0)

    public init() {}
    public init(size: ByteCount, age: TimeSpan = TimeSpan(seconds: 0)) { (self.size, self.age) = (size, age) }

    public static let usualSize = ByteCount(256 << 20)
    /// Apart from 0.
    public static let sizes = ByteCount(1 << 20)...ByteCount(1 << 30)

    public var recordsEvents: Bool { size > .zero }

    /// The value of journal.size.
    public static func size(text: some StringProtocol) -> ByteCount? {
        ByteCount(text: text).flatMap { isSize($0) ? $0 : nil }
    }
    static func isSize(_ size: ByteCount) -> Bool { size == .zero || sizes.contains(size) }

    /// A part of them that is set.
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

    /// The first value that a device which was read from a file cannot have.
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

/// Members of device.json, each left out while it has its usual value.
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
