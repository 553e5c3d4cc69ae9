public import Foundation

// Public code of an iOS library, which on Linux uses the plugin. It only has to compile where nothing else is said.

/// A protocol for a mock, and Foundation's type as its usual implementation.
public protocol FileManaging {
    static var `default`: FileManager { get }
    func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any]
    func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws
    func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]?) throws
    func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]?
    ) throws
    func createFile(atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]?) -> Bool
}
extension FileManager: FileManaging {}

public protocol Valued {
    func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues
    mutating func setResourceValues(_ values: URLResourceValues) throws
}
extension URL: Valued {}

public protocol Writable { func write(to url: URL, options: Data.WritingOptions) throws }
extension Data: Writable {}

@inlinable public func room(_ url: URL) throws -> Int64? {
    try url.resourceValues(forKeys: [.volumeAvailableCapacityForImportantUsageKey])
        .volumeAvailableCapacityForImportantUsage
}
@inlinable public func isExcluded(_ url: URL, files: FileManager = .default) throws -> Bool? {
    try url.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup
}
public func values<Item: Valued>(of item: Item, _ keys: Set<URLResourceKey> = [.isPurgeableKey, .fileProtectionKey])
    throws -> [URLResourceKey]
{
    try Array(item.resourceValues(forKeys: keys).allValues.keys)
}

public struct Policy {
    public var protection: URLFileProtection?
    public var keys: Set<URLResourceKey> = [.isPurgeableKey]
    public init(protection: URLFileProtection? = .complete) { self.protection = protection }
}

public struct Loader {
    public let session: URLSession
    public init(session: URLSession = .shared) { self.session = session }
    public func request(_ url: URL) -> URLRequest { URLRequest(url: url) }
}

/// A library may declare what Foundation on Linux lacks.
extension URLResourceValues {
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? { -1 }
}
public func ownValue(_ url: URL) throws -> Int64? {
    try url.resourceValues(forKeys: []).volumeAvailableCapacityForOpportunisticUsage
}

/// The code under test of a mock.
public struct ImageFolder {
    let files: FileManager
    let folder: URL
    public init(files: FileManager = .default, folder: URL) { (self.files, self.folder) = (files, folder) }
    public func fill() throws -> UInt64? {
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("image").path
        guard files.createFile(atPath: path, contents: Data(count: 10)) else { return nil }
        return try files.attributesOfItem(atPath: path)[.size] as? UInt64
    }
}
