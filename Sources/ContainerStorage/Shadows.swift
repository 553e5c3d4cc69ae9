#if os(Linux)
@_exported import Foundation
import ContainerValues

extension URLResourceKey {
    /// Bytes available for data that the user needs, including everything that would be purged for it: `Int64`.
    public static var volumeAvailableCapacityForImportantUsageKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    }
    /// Bytes available for data that can be fetched again: `Int64`.
    public static var volumeAvailableCapacityForOpportunisticUsageKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForOpportunisticUsageKey")
    }
    /// Whether the file itself is marked as purgeable, so that the system may delete it to make room: `Bool`.
    public static var isPurgeableKey: URLResourceKey { URLResourceKey(rawValue: "NSURLIsPurgeableKey") }
    /// The protection class of a file, or the class that a folder gives to new entries: `URLFileProtection`.
    public static var fileProtectionKey: URLResourceKey { URLResourceKey(rawValue: "NSURLFileProtectionKey") }
}

/// A protection class: when a file's data can be accessed.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// `NSFileProtection...`
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Accessible at any time.
    public static var none: URLFileProtection { URLFileProtection(rawValue: "NSFileProtectionNone") }
    /// Accessible while the device is unlocked.
    public static var complete: URLFileProtection { URLFileProtection(rawValue: "NSFileProtectionComplete") }
    /// Accessible while the device is unlocked, and otherwise only to programs that have the file open. Files of this class can
    /// be created at any time.
    public static var completeUnlessOpen: URLFileProtection {
        URLFileProtection(rawValue: "NSFileProtectionCompleteUnlessOpen")
    }
    /// Accessible after the first unlock since a reboot.
    public static var completeUntilFirstUserAuthentication: URLFileProtection {
        URLFileProtection(rawValue: "NSFileProtectionCompleteUntilFirstUserAuthentication")
    }
    /// Accessible while the device is unlocked, like `complete`: purgefs does not know whether a user is active.
    public static var completeWhenUserInactive: URLFileProtection {
        URLFileProtection(rawValue: "NSFileProtectionCompleteWhenUserInactive")
    }
}

extension FileProtectionType {
    /// Accessible while the device is unlocked, like `complete`: purgefs does not know whether a user is active.
    public static var completeWhenUserInactive: FileProtectionType {
        FileProtectionType(rawValue: "NSFileProtectionCompleteWhenUserInactive")
    }
}

extension Data.WritingOptions {
    /// Gives the file the class `completeWhenUserInactive`.
    public static var completeFileProtectionWhenUserInactive: Data.WritingOptions {
        Data.WritingOptions(rawValue: 0x5000_0000)
    }
}

extension URLResourceValues {
    /// All values that were requested or set, by key. Values that do not exist are missing.
    public var allValues: [URLResourceKey: Any] {
        var all = StoredValues.all(in: self)
        if let fileProtection { all[.fileProtectionKey] = fileProtection }
        return all
    }
    /// The size of the volume in bytes.
    public var volumeTotalCapacity: Int? { StoredValues.value(of: .volumeTotalCapacityKey, in: self) }
    /// Free bytes of the volume, not counting purgeable ones.
    public var volumeAvailableCapacity: Int? { StoredValues.value(of: .volumeAvailableCapacityKey, in: self) }
    /// Bytes available for data that the user needs, including everything that would be purged for it.
    public var volumeAvailableCapacityForImportantUsage: Int64? {
        StoredValues.value(of: .volumeAvailableCapacityForImportantUsageKey, in: self)
    }
    /// Bytes available for data that can be fetched again.
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? {
        StoredValues.value(of: .volumeAvailableCapacityForOpportunisticUsageKey, in: self)
    }
    /// Bytes that a regular file takes from the volume.
    public var fileAllocatedSize: Int? { StoredValues.value(of: .fileAllocatedSizeKey, in: self) }
    /// Bytes that a regular file takes from the volume. Always equal to `fileAllocatedSize`, because no part of a file is
    /// stored elsewhere.
    public var totalFileAllocatedSize: Int? { StoredValues.value(of: .totalFileAllocatedSizeKey, in: self) }
    /// Whether the item itself is excluded from backups.
    public var isExcludedFromBackup: Bool? {
        get { StoredValues.value(of: .isExcludedFromBackupKey, in: self) }
        set { StoredValues.store(newValue, for: .isExcludedFromBackupKey, in: &self) }
    }
    /// Whether the item itself is marked as purgeable.
    public var isPurgeable: Bool? {
        get { StoredValues.value(of: .isPurgeableKey, in: self) }
        set { StoredValues.store(newValue, for: .isPurgeableKey, in: &self) }
    }
    /// The protection class of a file, which may be the default that it got when it was created. For a folder, this is the
    /// class that its new entries get. nil for a folder without a class, for any other item, and outside a container.
    public var fileProtection: URLFileProtection? {
        StoredValues.value(of: .fileProtectionKey, in: self).flatMap { URLFileProtection(rawValue: $0) }
    }
}

extension URL {
    /// Returns the values of a file or folder, by key.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
        try ContainerVolume.values(of: self, forKeys: keys)
    }
    /// Sets every value of a file or folder that is set in `values`. Outside a container, `isExcludedFromBackup` and
    /// `isPurgeable` are ignored.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    public mutating func setResourceValues(_ values: URLResourceValues) throws {
        try ContainerVolume.set(values, of: &self)
    }
}

extension NSURL {
    /// Returns the values of a file or folder, by key.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    public func resourceValues(forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        var values = try ContainerVolume.values(of: self, forKeys: keys)
        if let name = values[.fileProtectionKey] as? String {
            values[.fileProtectionKey] = URLFileProtection(rawValue: name)
        }
        return values
    }
    /// Sets a value of a file or folder.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    public func setResourceValue(_ value: Any?, forKey key: URLResourceKey) throws {
        try setResourceValues([key: value as Any])
    }
    /// Sets values of a file or folder.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    public func setResourceValues(_ keyedValues: [URLResourceKey: Any]) throws {
        try ContainerVolume.set(keyedValues, of: self)
    }
}

extension Data {
    /// Writes the data to a file. In a container, the file gets the protection class that the options name, if any.
    /// - Throws: `CocoaError.fileWriteOutOfSpace`, `.fileWriteNoPermission` and related errors.
    public func write(to url: URL, options: Data.WritingOptions = []) throws {
        try ProtectedItems.write(self, to: url, options: options)
    }
}

extension FileManager {
    /// Returns the attributes of an item. In a container they include `.protectionKey` for each file, and for each folder that
    /// has a class for its new entries.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        try ProtectedItems.attributes(ofItemAtPath: path, self)
    }
    /// Sets attributes of an item, including `.protectionKey`, which is ignored outside a container.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        try ProtectedItems.set(attributes, ofItemAtPath: path, self)
    }
    /// Creates a folder with attributes, including `.protectionKey`.
    /// - Throws: `CocoaError.fileWriteFileExists`, `.fileWriteNoPermission` and related errors.
    public func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try ProtectedItems.createFolder(
            atPath: url.path, withIntermediateDirectories: createIntermediates, attributes: attributes, self)
    }
    /// Creates a folder with attributes, including `.protectionKey`.
    /// - Throws: `CocoaError.fileWriteFileExists`, `.fileWriteNoPermission` and related errors.
    public func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try ProtectedItems.createFolder(
            atPath: path, withIntermediateDirectories: createIntermediates, attributes: attributes, self)
    }
    /// Creates a file with attributes, including `.protectionKey`. Returns false on failure.
    @discardableResult
    public func createFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        ProtectedItems.createFile(atPath: path, contents: data, attributes: attributes, self)
    }
}
#endif
