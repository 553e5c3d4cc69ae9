#if os(Linux)
@_exported import ContainerValues
@_exported import Foundation

// All names are qualified and no member is isolated, because the plugin copies this file into modules of apps. These may declare
// types of the same names, and may have another default isolation.

extension Foundation.URLResourceValues {
    /// All values that were requested or set, by key. Values that do not exist are missing.
    nonisolated public var allValues: [Foundation.URLResourceKey: Any] {
        var all = ContainerValues.StoredValues.all(in: self)
        if let fileProtection { all[.fileProtectionKey] = fileProtection }
        return all
    }
    /// The size of the volume in bytes.
    nonisolated public var volumeTotalCapacity: Swift.Int? {
        ContainerValues.StoredValues.value(of: .volumeTotalCapacityKey, in: self)
    }
    /// Free bytes of the volume, not counting purgeable ones.
    nonisolated public var volumeAvailableCapacity: Swift.Int? {
        ContainerValues.StoredValues.value(of: .volumeAvailableCapacityKey, in: self)
    }
    /// Bytes that a regular file takes from the volume.
    nonisolated public var fileAllocatedSize: Swift.Int? {
        ContainerValues.StoredValues.value(of: .fileAllocatedSizeKey, in: self)
    }
    /// Bytes that a regular file takes from the volume. Always equal to `fileAllocatedSize`, because no part of a file is
    /// stored elsewhere.
    nonisolated public var totalFileAllocatedSize: Swift.Int? {
        ContainerValues.StoredValues.value(of: .totalFileAllocatedSizeKey, in: self)
    }
    /// Whether the item itself is excluded from backups.
    nonisolated public var isExcludedFromBackup: Swift.Bool? {
        get { ContainerValues.StoredValues.value(of: .isExcludedFromBackupKey, in: self) }
        set { ContainerValues.StoredValues.store(newValue, for: .isExcludedFromBackupKey, in: &self) }
    }
}

extension Foundation.URL {
    /// Returns the values of a file or folder, by key.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    nonisolated public func resourceValues(forKeys keys: Swift.Set<Foundation.URLResourceKey>) throws
        -> Foundation.URLResourceValues
    {
        try ContainerValues.ContainerVolume.values(of: self, forKeys: keys)
    }
    /// Sets every value of a file or folder that is set in `values`. Outside a container, `isExcludedFromBackup` and
    /// `isPurgeable` are ignored.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    nonisolated public mutating func setResourceValues(_ values: Foundation.URLResourceValues) throws {
        try ContainerValues.ContainerVolume.set(values, of: &self)
    }
}

extension Foundation.NSURL {
    /// Returns the values of a file or folder, by key.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    nonisolated public func resourceValues(forKeys keys: [Foundation.URLResourceKey]) throws -> [Foundation
        .URLResourceKey: Any]
    {
        var values = try ContainerValues.ContainerVolume.values(of: self, forKeys: keys)
        if let name = values[.fileProtectionKey] as? Swift.String {
            values[.fileProtectionKey] = ContainerValues.URLFileProtection(rawValue: name)
        }
        return values
    }
    /// Stores the value of a file or folder for a key, or nil if it has none.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    nonisolated public func getResourceValue(_ value: inout Swift.AnyObject?, forKey key: Foundation.URLResourceKey)
        throws
    {
        value = try resourceValues(forKeys: [key])[key].map { $0 as AnyObject }
    }
    /// Sets a value of a file or folder.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    nonisolated public func setResourceValue(_ value: Any?, forKey key: Foundation.URLResourceKey) throws {
        try setResourceValues([key: value as Any])
    }
    /// Sets values of a file or folder.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    nonisolated public func setResourceValues(_ keyedValues: [Foundation.URLResourceKey: Any]) throws {
        try ContainerValues.ContainerVolume.set(keyedValues, of: self)
    }
}

extension Foundation.Data {
    /// Writes the data to a file. In a container, the file gets the protection class that the options name, if any.
    /// - Throws: `CocoaError.fileWriteOutOfSpace`, `.fileWriteNoPermission` and related errors.
    nonisolated public func write(to url: Foundation.URL, options: Foundation.Data.WritingOptions = []) throws {
        try ContainerValues.ProtectedItems.write(self, to: url, options: options)
    }
}

extension Foundation.FileManager {
    /// The process's shared object. In a container, it also handles protection classes.
    nonisolated public class var `default`: Foundation.FileManager { ContainerValues.ContainerFiles.shared }
}
#endif
