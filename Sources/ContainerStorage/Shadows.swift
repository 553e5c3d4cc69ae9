#if os(Linux)
@_exported import Foundation
import ContainerValues

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
    /// Stores the value of a file or folder for a key, or nil if it has none.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    public func getResourceValue(_ value: inout AnyObject?, forKey key: URLResourceKey) throws {
        value = try resourceValues(forKeys: [key])[key].map { $0 as AnyObject }
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
    /// The process's shared object. In a container, it also handles protection classes.
    public class var `default`: FileManager { ContainerFiles.shared }
}
#endif
