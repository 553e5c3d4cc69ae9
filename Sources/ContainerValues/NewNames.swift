#if os(Linux)
public import Foundation

// The names of iOS that Foundation lacks on Linux. A declaration of the same name in an app's own module, or in another library
// that it imports, has precedence.

extension URLResourceKey {
    /// Bytes available for data that the user needs, including everything that would be purged for it: `Int64`.
    @_disfavoredOverload public static var volumeAvailableCapacityForImportantUsageKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    }
    /// Bytes available for data that can be fetched again: `Int64`.
    @_disfavoredOverload public static var volumeAvailableCapacityForOpportunisticUsageKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLVolumeAvailableCapacityForOpportunisticUsageKey")
    }
    /// Whether the file itself is marked as purgeable, so that the system may delete it to make room: `Bool`.
    @_disfavoredOverload public static var isPurgeableKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLIsPurgeableKey")
    }
    /// The protection class of a file, or the class that a folder gives to new entries: `URLFileProtection`.
    @_disfavoredOverload public static var fileProtectionKey: URLResourceKey {
        URLResourceKey(rawValue: "NSURLFileProtectionKey")
    }
}

/// A protection class: when a file's data can be accessed.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// `NSFileProtection...`
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Accessible at any time.
    public static var none: URLFileProtection { URLFileProtection(rawValue: "NSFileProtectionNone") }
    /// Accessible while the device is unlocked or `locking`.
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
    /// Accessible while the device is unlocked, and for `device.inactivity` after the lock.
    public static var completeWhenUserInactive: URLFileProtection {
        URLFileProtection(rawValue: "NSFileProtectionCompleteWhenUserInactive")
    }
}

extension FileProtectionType {
    /// Accessible while the device is unlocked, and for `device.inactivity` after the lock.
    @_disfavoredOverload public static var completeWhenUserInactive: FileProtectionType {
        FileProtectionType(rawValue: "NSFileProtectionCompleteWhenUserInactive")
    }
}

extension Data.WritingOptions {
    /// Gives the file the class `completeWhenUserInactive`.
    @_disfavoredOverload public static var completeFileProtectionWhenUserInactive: Data.WritingOptions {
        Data.WritingOptions(rawValue: 0x5000_0000)
    }
}

extension URLResourceValues {
    /// Bytes available for data that the user needs, including everything that would be purged for it.
    @_disfavoredOverload public var volumeAvailableCapacityForImportantUsage: Int64? {
        StoredValues.value(of: .volumeAvailableCapacityForImportantUsageKey, in: self)
    }
    /// Bytes available for data that can be fetched again.
    @_disfavoredOverload public var volumeAvailableCapacityForOpportunisticUsage: Int64? {
        StoredValues.value(of: .volumeAvailableCapacityForOpportunisticUsageKey, in: self)
    }
    /// Whether the item itself is marked as purgeable.
    @_disfavoredOverload public var isPurgeable: Bool? {
        get { StoredValues.value(of: .isPurgeableKey, in: self) }
        set { StoredValues.store(newValue, for: .isPurgeableKey, in: &self) }
    }
    /// The protection class of a file, which may be the default that it got when it was created. For a folder, this is the
    /// class that its new entries get. nil for a folder without a class, for any other item, and outside a container.
    @_disfavoredOverload public var fileProtection: URLFileProtection? {
        StoredValues.value(of: .fileProtectionKey, in: self).flatMap { URLFileProtection(rawValue: $0) }
    }
}

extension URL {
    /// The folder for documents of the user.
    @_disfavoredOverload public static var documentsDirectory: URL { folder(.documentDirectory) }
    /// The folder that contains most of the other folders.
    @_disfavoredOverload public static var libraryDirectory: URL { folder(.libraryDirectory) }
    /// The folder for data that an app can fetch or compute again.
    @_disfavoredOverload public static var cachesDirectory: URL { folder(.cachesDirectory) }
    /// The folder for data that an app needs and the user does not see.
    @_disfavoredOverload public static var applicationSupportDirectory: URL { folder(.applicationSupportDirectory) }

    private static func folder(_ place: FileManager.SearchPathDirectory) -> URL {
        FileManager.default.urls(for: place, in: .userDomainMask)[0]
    }
}

extension FileManager {
    /// Creates and returns a folder that stands in for the container of an app group, below Library/Application Support. No
    /// other app can reach it, because purgefs has no app groups. Returns nil outside a container, for a name that is no file
    /// name, and if the folder cannot be created.
    @_disfavoredOverload public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL?
    {
        let support = URL.applicationSupportDirectory
        let isName = !["", ".", ".."].contains(groupIdentifier) && !groupIdentifier.contains("/")
        guard isName, ItemAttributes(at: NSHomeDirectory())?.isInContainer == true else { return nil }
        let group = support.appendingPathComponent("App groups of purgefs, not shared/\(groupIdentifier)")
        do {
            try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
            return group
        } catch { return nil }
    }
}
#endif
