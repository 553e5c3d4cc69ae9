/// A word of purgefs that may be one that this library does not know, because the binary is newer.
public protocol ContainerWord: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible
where RawValue == String {}

extension ContainerWord {
    public var description: String { rawValue }
}

extension Container {
    /// What the type of an event can be. docs/CONTROL.md, events.
    public struct EventType: ContainerWord {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let mount = EventType(rawValue: "mount")
        public static let unmount = EventType(rawValue: "unmount")
        /// A file was purged, or a part of what other apps can give back.
        public static let purge = EventType(rawValue: "purge")
        /// A write found no room. For one file at most one a second.
        public static let refused = EventType(rawValue: "refused")
        /// The level has changed.
        public static let pressure = EventType(rawValue: "pressure")
        /// Total, others, the thresholds or the profile were set.
        public static let capacity = EventType(rawValue: "capacity")
        /// A flag was set or removed.
        public static let mark = EventType(rawValue: "mark")
        /// A file with a flag was replaced by one without.
        public static let flagLost = EventType(rawValue: "flagLost")
        /// A call was refused because of the file's protection class and the state of the device.
        public static let protectionDenied = EventType(rawValue: "protectionDenied")
        /// The lock state has changed.
        public static let device = EventType(rawValue: "device")
        /// The clock was advanced.
        public static let clock = EventType(rawValue: "clock")
        /// The app was launched, terminated, updated or deleted.
        public static let app = EventType(rawValue: "app")
        /// A policy of a folder was set, removed or checked.
        public static let policy = EventType(rawValue: "policy")
        public static let backup = EventType(rawValue: "backup")
        public static let restore = EventType(rawValue: "restore")
        /// The disk under the store is full; the caller got EIO.
        public static let hostFull = EventType(rawValue: "hostFull")
        /// So many events were missed, because they came too fast.
        public static let dropped = EventType(rawValue: "dropped")
        /// What the app does to names, which only the journal has (`purgefs events`).
        public static let removed = EventType(rawValue: "removed")
        public static let renamed = EventType(rawValue: "renamed")
        public static let replaced = EventType(rawValue: "replaced")
    }

    /// What set a purge off. docs/CONTROL.md, events.
    public struct Trigger: ContainerWord {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let importantWrite = Trigger(rawValue: "importantWrite")
        public static let pressure = Trigger(rawValue: "pressure")
        public static let capacity = Trigger(rawValue: "capacity")
        public static let policy = Trigger(rawValue: "policy")
        public static let reboot = Trigger(rawValue: "reboot")
        public static let command = Trigger(rawValue: "command")
    }

    /// The rules of purging: `.documented`, the default, follows Apple's documentation, `.device` what devices were
    /// seen to do. docs/RULES.md, Profiles.
    public struct Profile: ContainerWord {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let documented = Profile(rawValue: "documented")
        public static let device = Profile(rawValue: "device")
    }

    /// What a place is to purging. docs/RULES.md, Words.
    public enum Tier: String, Hashable, Codable, Sendable { case temporary, caches, persistent }

    /// How little room is left. docs/RULES.md, Capacity.
    public enum Pressure: String, Hashable, Codable, Sendable { case normal, nearLow, low, veryLow }

    public enum DeviceState: String, Hashable, Codable, Sendable {
        /// `locking` lasts ten simulated seconds, in which protected files stay readable.
        case unlocked, locking, locked, beforeFirstUnlock
    }

    /// How early a marked file is purged; `none` takes the mark away. docs/XATTRS.md.
    public enum Urgency: String, Hashable, Sendable {
        case none = "0"
        case low, medium, high
    }

    /// docs/PROTECTION.md
    public enum ProtectionClass: String, Hashable, Sendable {
        case complete, completeUnlessOpen, completeUntilFirstUserAuthentication, completeWhenUserInactive, none
    }

    /// What happens to the app. docs/RULES.md, The life of a device.
    public enum AppChange: String, Hashable, Sendable { case launch, terminate, update, delete }
}
