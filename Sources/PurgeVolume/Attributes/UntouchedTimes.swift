import PurgeSystem

/// Access times that reading does not change (mount(8): noatime, nodiratime).
public struct UntouchedTimes: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let files = UntouchedTimes(rawValue: 1)
    public static let directories = UntouchedTimes(rawValue: 2)

    /// Flags for the open(2) of a backing file.
    var fileFlags: Int32 { contains(.files) ? System.openNoAccessTime : 0 }
    var directoryFlags: Int32 { contains(.directories) ? System.openNoAccessTime : 0 }
}
