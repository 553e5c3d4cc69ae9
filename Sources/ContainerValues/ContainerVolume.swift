#if os(Linux)
public import Foundation
import Glibc

/// Implements the resource values of `ContainerStorage`. It is in a separate module, because a module that declares
/// `resourceValues(forKeys:)` can no longer call Foundation's method.
public enum ContainerVolume {
    /// Implements `URL.resourceValues(forKeys:)`. On a mount of purgefs, capacities, flags and protection come from the
    /// container. Elsewhere they are Foundation's values, and nil if Foundation has none on Linux. Allocated sizes always come
    /// from lstat(2).
    /// - Throws: Foundation's errors, such as `CocoaError.fileReadNoSuchFile` if the file does not exist.
    public static func values(of url: URL, forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
        let ours = url.isFileURL ? keys.intersection(StoredValues.keys) : []
        guard !ours.isEmpty else { return try url.resourceValues(forKeys: keys) }
        guard let item = ItemAttributes(at: url.path) else {
            let failure = ItemFailure.reading(errno, url.path)
            _ = try url.resourceValues(forKeys: [.fileSizeKey])  // throws Foundation's error for such a path
            throw failure
        }
        let isInContainer = item.isInContainer
        let answered = ours.filter {
            switch $0 {
            case StoredValues.total, StoredValues.available: item.hasCapacities
            case StoredValues.isExcludedFromBackup: isInContainer
            default: true
            }
        }
        var values = try url.resourceValues(forKeys: keys.subtracting(answered))
        for key in ours {
            if let value = item.value(of: key, isInContainer: isInContainer) {
                StoredValues.store(value, for: key, in: &values)
            }
        }
        return values
    }

    /// Implements `URL.setResourceValues(_:)`. Flags are ignored off a mount of purgefs, and for links and special files, as
    /// Foundation ignores a property that a volume does not support.
    /// - Throws: Foundation's errors; `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission`, `.fileWriteVolumeReadOnly`,
    ///   `.fileWriteOutOfSpace` or `.fileWriteUnknown` if a flag could not be set.
    public static func set(_ values: URLResourceValues, of url: inout URL) throws {
        let flags = StoredValues.flags(in: values)
        try url.setResourceValues(values)
        guard !flags.isEmpty, url.isFileURL else { return }
        guard let item = ItemAttributes(at: url.path) else { throw ItemFailure.writing(errno, url.path) }
        guard item.hasFlags, item.isInContainer else { return }
        for (name, isSet) in flags.sorted(by: { $0.key < $1.key }) {
            // A flag that already has this value is not set again, because `1` would replace the urgency of a purgeable mark.
            let current = item.flag(name)
            if current == nil || (current != "0") != isSet { try item.setFlag(name, to: isSet ? "1" : "0") }
        }
    }

    /// Implements `NSURL.resourceValues(forKeys:)`.
    /// - Throws: the errors of the method for `URL`.
    public static func values(of url: NSURL, forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        let keys = Set(keys)
        var all = try url.resourceValues(forKeys: Array(keys.subtracting(StoredValues.keys)))
        let values = try values(of: url as URL, forKeys: keys.intersection(StoredValues.keys))
        for (key, value) in StoredValues.all(in: values) { all[key] = value }
        return all
    }

    /// Implements `NSURL.setResourceValues(_:)`. As on iOS, this is the only method that sets a protection class through
    /// resource values.
    /// - Throws: the errors of the method for `URL`.
    public static func set(_ keyedValues: [URLResourceKey: Any], of url: NSURL) throws {
        let name = StoredValues.className(in: keyedValues)
        let (flags, others) = StoredValues.split(keyedValues.filter { $0.key != StoredValues.fileProtection })
        try url.setResourceValues(others)
        var item = url as URL
        if let flags { try set(flags, of: &item) }
        if let name, item.isFileURL { try ProtectedItems.setClass(name, ofItemAtPath: item.path) }
    }
}

extension ItemAttributes {
    /// Returns the value of a key as `StoredValues` keeps it; nil if the item has none, or if Foundation must provide it.
    fileprivate func value(of key: URLResourceKey, isInContainer: Bool) -> Any? {
        switch key {
        case StoredValues.fileAllocatedSize, StoredValues.totalFileAllocatedSize: return allocatedSize
        case StoredValues.total: return capacity("volumeTotalCapacity").map { Int($0) }
        case StoredValues.available: return capacity("volumeAvailableCapacity").map { Int($0) }
        case StoredValues.important: return capacity("volumeAvailableCapacityForImportantUsage")
        case StoredValues.opportunistic: return capacity("volumeAvailableCapacityForOpportunisticUsage")
        case _ where !isInContainer: return nil
        case StoredValues.isExcludedFromBackup: return mark("isExcludedFromBackup")
        case StoredValues.isPurgeable: return mark("isPurgeable")
        case StoredValues.fileProtection: return flag("fileProtection")
        default: return nil
        }
    }
}
#endif
