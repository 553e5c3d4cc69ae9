#if os(Linux)
public import Foundation
import Glibc

/// What the names of `ContainerStorage` do. They are declared apart from it, because a module that declares
/// `resourceValues(forKeys:)` itself can no longer call Foundation's.
public enum ContainerVolume {
    /// `URL.resourceValues(forKeys:)`. On a mount of purgefs the capacities, the flags and the protection are those of the container;
    /// elsewhere what Linux has, and nil where it has nothing.
    /// - Throws: what Foundation throws: `CocoaError.fileReadNoSuchFile` if there is no such file.
    public static func values(of url: URL, forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
        let ours = url.isFileURL ? keys.intersection(StoredValues.keys) : []
        guard !ours.isEmpty else { return try url.resourceValues(forKeys: keys) }
        guard let item = ItemAttributes(at: url.path) else {
            let failure = ItemFailure.reading(errno, url.path)
            _ = try url.resourceValues(forKeys: [.fileSizeKey])  // throws what Foundation throws of such a path
            throw failure
        }
        let isInContainer = item.isInContainer
        let answered = isInContainer ? ours : ours.subtracting(StoredValues.ofPlatform)
        var values = try url.resourceValues(forKeys: keys.subtracting(answered))
        for key in ours {
            if let value = item.value(of: key, isInContainer: isInContainer) {
                StoredValues.store(value, for: key, in: &values)
            }
        }
        return values
    }

    /// `URL.setResourceValues(_:)`. Off a mount of purgefs the flags are ignored, as Foundation does with a property that a volume does not
    /// support.
    /// - Throws: what Foundation throws; `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission`, `.fileWriteVolumeReadOnly`,
    ///   `.fileWriteOutOfSpace` or `.fileWriteUnknown` if a flag could not be set.
    public static func set(_ values: URLResourceValues, of url: inout URL) throws {
        let flags = StoredValues.flags(in: values)
        try url.setResourceValues(values)
        guard !flags.isEmpty, url.isFileURL else { return }
        guard let item = ItemAttributes(at: url.path) else { throw ItemFailure.writing(errno, url.path) }
        guard item.hasFlags, item.isInContainer else { return }
        for (name, isSet) in flags.sorted(by: { $0.key < $1.key }) {
            // A mark that is there keeps its urgency when values that were read are written back.
            let current = item.flag(name)
            if current == nil || (current != "0") != isSet { try item.setFlag(name, to: isSet ? "1" : "0") }
        }
    }

    /// `NSURL.resourceValues(forKeys:)`
    /// - Throws: as that of `URL`.
    public static func values(of url: NSURL, forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        let keys = Set(keys)
        var all = try url.resourceValues(forKeys: Array(keys.subtracting(StoredValues.keys)))
        let values = try values(of: url as URL, forKeys: keys.intersection(StoredValues.keys))
        for (key, value) in StoredValues.all(in: values) { all[key] = value }
        return all
    }

    /// `NSURL.setResourceValues(_:)`, with which alone iOS sets a protection class by resource values.
    /// - Throws: as that of `URL`.
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
    /// The value of a key as `StoredValues` keeps it; nil if there is none.
    fileprivate func value(of key: URLResourceKey, isInContainer: Bool) -> Any? {
        switch key {
        case StoredValues.fileAllocatedSize, StoredValues.totalFileAllocatedSize: return allocatedSize
        case _ where !isInContainer: return nil
        case StoredValues.total: return capacity("volumeTotalCapacity").map { Int($0) }
        case StoredValues.available: return capacity("volumeAvailableCapacity").map { Int($0) }
        case StoredValues.important: return capacity("volumeAvailableCapacityForImportantUsage")
        case StoredValues.opportunistic: return capacity("volumeAvailableCapacityForOpportunisticUsage")
        case StoredValues.isExcludedFromBackup: return mark("isExcludedFromBackup")
        case StoredValues.isPurgeable: return mark("isPurgeable")
        case StoredValues.fileProtection: return flag("fileProtection")
        default: return nil
        }
    }
}
#endif
