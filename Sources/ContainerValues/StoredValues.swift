#if os(Linux)
public import Foundation

/// The values that Foundation's `URLResourceValues` has no place for on Linux. They are kept inside of it, in
/// `quarantineProperties`, which iOS does not have: so an app's values stay Foundation's own type, and pass through other modules.
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

    /// Keys that are answered here.
    static let keys: Set<URLResourceKey> = [
        important, opportunistic, isPurgeable, fileProtection, total, available, isExcludedFromBackup,
        fileAllocatedSize, totalFileAllocatedSize,
    ]
    /// Those that Foundation answers where this does not.
    static let ofPlatform: Set<URLResourceKey> = [total, available, isExcludedFromBackup]
    /// Those that can be set, and their attributes.
    private static let flags = [isExcludedFromBackup: "isExcludedFromBackup", isPurgeable: "isPurgeable"]

    private static let prefix = "purgefs."

    /// A value kept here, or else Foundation's; nil if there is none of that key and type.
    public static func value<Value>(of key: URLResourceKey, in values: URLResourceValues) -> Value? {
        (values.quarantineProperties?[prefix + key.rawValue] ?? values.allValues[key]) as? Value
    }

    /// Keeps a value; nil forgets it.
    public static func store(_ value: Any?, for key: URLResourceKey, in values: inout URLResourceValues) {
        var stored = values.quarantineProperties ?? [:]
        stored[prefix + key.rawValue] = value
        values.quarantineProperties = stored
    }

    /// All values, ours under their own keys.
    public static func all(in values: URLResourceValues) -> [URLResourceKey: Any] {
        var all = values.allValues
        guard let stored = values.quarantineProperties else { return all }
        all[.quarantinePropertiesKey] = nil
        for (name, value) in stored where name.hasPrefix(prefix) {
            all[URLResourceKey(rawValue: String(name.dropFirst(prefix.count)))] = value
        }
        return all
    }

    /// The class among values, as a name.
    static func className(in keyedValues: [URLResourceKey: Any]) -> String? {
        let value = keyedValues[fileProtection]
        // FileProtectionType, or URLFileProtection, which each module with the plugin declares itself.
        return (value as? any RawRepresentable<String>)?.rawValue ?? value as? String
    }

    /// Flags among values, if there are any, and the other values.
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

    /// The flags that were set, by the names of their attributes.
    static func flags(in values: URLResourceValues) -> [String: Bool] {
        var found: [String: Bool] = [:]
        for (key, name) in flags {
            found[name] = value(of: key, in: values)
        }
        return found
    }
}
#endif
