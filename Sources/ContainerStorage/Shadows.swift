#if os(Linux)
@_exported import Foundation
import ContainerValues

extension URLResourceKey {
    /// Bytes that data which the user needs can take, with all that would be purged for it: `Int64`.
    public static var volumeAvailableCapacityForImportantUsageKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    }
    /// Bytes that data which can be fetched again can take: `Int64`.
    public static var volumeAvailableCapacityForOpportunisticUsageKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForOpportunisticUsageKey")
    }
    /// Whether the system may delete the file when it needs room: `Bool`.
    public static var isPurgeableKey: URLResourceKey { URLResourceKey(rawValue: "NSURLIsPurgeableKey") }
    /// The protection class: `URLFileProtection`.
    public static var fileProtectionKey: URLResourceKey { URLResourceKey(rawValue: "NSURLFileProtectionKey") }
}

/// When the data of a file can be reached.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// `NSFileProtection...`
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// At any time.
    public static var none: URLFileProtection { URLFileProtection(rawValue: "NSFileProtectionNone") }
    /// While the device is unlocked.
    public static var complete: URLFileProtection { URLFileProtection(rawValue: "NSFileProtectionComplete") }
    /// While the device is unlocked, and longer by those who have opened the file.
    public static var completeUnlessOpen: URLFileProtection {
        URLFileProtection(rawValue: "NSFileProtectionCompleteUnlessOpen")
    }
    /// From the first unlock after a reboot on.
    public static var completeUntilFirstUserAuthentication: URLFileProtection {
        URLFileProtection(rawValue: "NSFileProtectionCompleteUntilFirstUserAuthentication")
    }
    /// While the device is unlocked, as `complete`: nobody is known to be active or inactive here.
    public static var completeWhenUserInactive: URLFileProtection {
        URLFileProtection(rawValue: "NSFileProtectionCompleteWhenUserInactive")
    }
}

extension FileProtectionType {
    /// While the device is unlocked, as `complete`: nobody is known to be active or inactive here.
    public static var completeWhenUserInactive: FileProtectionType {
        FileProtectionType(rawValue: "NSFileProtectionCompleteWhenUserInactive")
    }
}

extension Data.WritingOptions {
    /// Of the class `completeWhenUserInactive`.
    public static var completeFileProtectionWhenUserInactive: Data.WritingOptions {
        Data.WritingOptions(rawValue: 0x5000_0000)
    }
}

extension URLResourceValues {
    /// All values that were asked for or set, by their keys.
    public var allValues: [URLResourceKey: Any] {
        var all = StoredValues.all(in: self)
        if let fileProtection { all[.fileProtectionKey] = fileProtection }
        return all
    }
    /// Bytes of the volume.
    public var volumeTotalCapacity: Int? { StoredValues.value(of: .volumeTotalCapacityKey, in: self) }
    /// Free bytes of the volume. What could be purged is not among them.
    public var volumeAvailableCapacity: Int? { StoredValues.value(of: .volumeAvailableCapacityKey, in: self) }
    /// Bytes that data which the user needs can take, with all that would be purged for it.
    public var volumeAvailableCapacityForImportantUsage: Int64? {
        StoredValues.value(of: .volumeAvailableCapacityForImportantUsageKey, in: self)
    }
    /// Bytes that data which can be fetched again can take.
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? {
        StoredValues.value(of: .volumeAvailableCapacityForOpportunisticUsageKey, in: self)
    }
    /// Bytes that a regular file takes from the volume.
    public var fileAllocatedSize: Int? { StoredValues.value(of: .fileAllocatedSizeKey, in: self) }
    /// Bytes that a regular file takes from the volume; the same number, because nothing of a file is kept elsewhere.
    public var totalFileAllocatedSize: Int? { StoredValues.value(of: .totalFileAllocatedSizeKey, in: self) }
    /// Whether the item itself is left out of backups.
    public var isExcludedFromBackup: Bool? {
        get { StoredValues.value(of: .isExcludedFromBackupKey, in: self) }
        set { StoredValues.store(newValue, for: .isExcludedFromBackupKey, in: &self) }
    }
    /// Whether the item itself is marked for purging.
    public var isPurgeable: Bool? {
        get { StoredValues.value(of: .isPurgeableKey, in: self) }
        set { StoredValues.store(newValue, for: .isPurgeableKey, in: &self) }
    }
    /// The protection class that the item itself has; nil if it has the default one of the device.
    public var fileProtection: URLFileProtection? {
        StoredValues.value(of: .fileProtectionKey, in: self).flatMap { URLFileProtection(rawValue: $0) }
    }
}

extension URL {
    /// The values of a file or folder, by their keys.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and its kin.
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
        try ContainerVolume.values(of: self, forKeys: keys)
    }
    /// Sets those values of a file or folder that were set in `values`.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and their kin.
    public mutating func setResourceValues(_ values: URLResourceValues) throws {
        try ContainerVolume.set(values, of: &self)
    }
}

extension NSURL {
    /// The values of a file or folder, by their keys.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and its kin.
    public func resourceValues(forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        var values = try ContainerVolume.values(of: self, forKeys: keys)
        if let name = values[.fileProtectionKey] as? String {
            values[.fileProtectionKey] = URLFileProtection(rawValue: name)
        }
        return values
    }
    /// Sets a value of a file or folder.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and their kin.
    public func setResourceValue(_ value: Any?, forKey key: URLResourceKey) throws {
        try setResourceValues([key: value as Any])
    }
    /// Sets values of a file or folder.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and their kin.
    public func setResourceValues(_ keyedValues: [URLResourceKey: Any]) throws {
        try ContainerVolume.set(keyedValues, of: self)
    }
}

extension Data {
    /// Writes the data, to a file of the protection class that the options name, if they name one.
    /// - Throws: `CocoaError.fileWriteOutOfSpace`, `.fileWriteNoPermission` and their kin.
    public func write(to url: URL, options: Data.WritingOptions = []) throws {
        try ProtectedItems.write(self, to: url, options: options)
    }
}

extension FileManager {
    /// The attributes of an item; in a container also `.protectionKey`, if the item has a class of its own.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and its kin.
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        try ProtectedItems.attributes(ofItemAtPath: path, self)
    }
    /// Sets attributes of an item, `.protectionKey` too.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and their kin.
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        try ProtectedItems.set(attributes, ofItemAtPath: path, self)
    }
    /// Makes a folder, with its attributes, `.protectionKey` too.
    /// - Throws: `CocoaError.fileWriteFileExists`, `.fileWriteNoPermission` and their kin.
    public func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try ProtectedItems.createFolder(
            atPath: url.path, withIntermediateDirectories: createIntermediates, attributes: attributes, self)
    }
    /// Makes a folder, with its attributes, `.protectionKey` too.
    /// - Throws: `CocoaError.fileWriteFileExists`, `.fileWriteNoPermission` and their kin.
    public func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try ProtectedItems.createFolder(
            atPath: path, withIntermediateDirectories: createIntermediates, attributes: attributes, self)
    }
    /// Makes a file, with its attributes, `.protectionKey` too: false if that cannot be done.
    @discardableResult
    public func createFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        ProtectedItems.createFile(atPath: path, contents: data, attributes: attributes, self)
    }
}
#endif
