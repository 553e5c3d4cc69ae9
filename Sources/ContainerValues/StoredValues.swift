#if os(Linux)
public import Foundation

/// The values for which Foundation's `URLResourceValues` has no members on Linux. They are stored in its
/// `quarantineProperties`, which iOS does not have. So an app's values keep Foundation's own type, and can pass through other
/// modules.
public enum StoredValues {
    static let important = URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    static let opportunistic = URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForOpportunisticUsageKey")
    static let isPurgeable = URLResourceKey(rawValue: "NSURLIsPurgeableKey")
    static let fileProtection = URLResourceKey(rawValue: "NSURLFileProtectionKey")
    static let total = URLResourceKey.volumeTotalCapacityKey
    static let available = URLResourceKey.volumeAvailableCapacityKey
    static let isExcludedFromBackup = URLResourceKey.isExcludedFromBackupKey
    static let fileAllocatedSize = URLResourceKey.fileAllocatedSizeKey
    static let totalFileAllocatedSize = URLResourceKey.totalFileAllocatedSizeKey

    /// The keys that purgefs answers.
    static let keys: Set<URLResourceKey> = [
        important, opportunistic, isPurgeable, fileProtection, total, available, isExcludedFromBackup,
        fileAllocatedSize, totalFileAllocatedSize,
    ]
    /// The keys of flags, with their attributes.
    private static let flags = [isExcludedFromBackup: "isExcludedFromBackup", isPurgeable: "isPurgeable"]

    private static let prefix = "purgefs."

    /// Returns the value stored here, or else Foundation's; nil if there is none, or if it has another type.
    public static func value<Value>(of key: URLResourceKey, in values: URLResourceValues) -> Value? {
        (values.quarantineProperties?[prefix + key.rawValue] ?? values.allValues[key]) as? Value
    }

    /// Stores a value, or removes it if it is nil.
    public static func store(_ value: Any?, for key: URLResourceKey, in values: inout URLResourceValues) {
        var stored = values.quarantineProperties ?? [:]
        stored[prefix + key.rawValue] = value
        values.quarantineProperties = stored
    }

    /// Returns Foundation's values and the values stored here, which replace Foundation's under the same keys.
    public static func all(in values: URLResourceValues) -> [URLResourceKey: Any] {
        var all = values.allValues
        guard let stored = values.quarantineProperties else { return all }
        all[.quarantinePropertiesKey] = nil
        for (name, value) in stored where name.hasPrefix(prefix) {
            all[URLResourceKey(rawValue: String(name.dropFirst(prefix.count)))] = value
        }
        return all
    }

    /// Returns the name of the protection class in the values.
    static func className(in keyedValues: [URLResourceKey: Any]) -> String? {
        let value = keyedValues[fileProtection]
        // The value is a FileProtectionType or a URLFileProtection.
        return (value as? any RawRepresentable<String>)?.rawValue ?? value as? String
    }

    /// Separates the flags, if there are any, from the other values.
    static func split(_ keyedValues: [URLResourceKey: Any]) -> (
        flags: URLResourceValues?, others: [URLResourceKey: Any]
    ) {
        let marks = keyedValues.filter { flags[$0.key] != nil }
        guard !marks.isEmpty else { return (nil, keyedValues) }
        var values = URLResourceValues()
        for (key, value) in marks {
            store(value as? Bool ?? (value as? NSNumber)?.boolValue, for: key, in: &values)
        }
        return (values, keyedValues.filter { flags[$0.key] == nil })
    }

    /// Returns the flags that have a value, keyed by attribute name.
    static func flags(in values: URLResourceValues) -> [String: Bool] {
        var found: [String: Bool] = [:]
        for (key, name) in flags {
            found[name] = value(of: key, in: values)
        }
        return found
    }
}
#endif
