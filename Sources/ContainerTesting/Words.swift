/// A fixed word in the output of purgefs, such as the type of an event. A newer binary may use words that this library does
/// not know.
public protocol ContainerWord: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible
where RawValue == String {}

extension ContainerWord {
    public var description: String { rawValue }
}

extension Container {
    /// The type of an event: docs/CONTROL.md, events.
    public struct EventType: ContainerWord {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let mount = EventType(rawValue: "mount")
        public static let unmount = EventType(rawValue: "unmount")
        /// A file was purged, or a part of others.
        public static let purge = EventType(rawValue: "purge")
        /// A write found no room, or waited in vain for files that were being changed; at most one event a second for each
        /// file.
        public static let refused = EventType(rawValue: "refused")
        /// The pressure level has changed.
        public static let pressure = EventType(rawValue: "pressure")
        /// Total, others, its purgeable part or share, the thresholds, the profile, the purge latency, the inactivity or
        /// the limits of the journal were set.
        public static let capacity = EventType(rawValue: "capacity")
        /// A flag was set or removed.
        public static let mark = EventType(rawValue: "mark")
        /// A rename replaced a file by one that lacks its exclusion from backups, or has another purgeable mark or none.
        public static let flagLost = EventType(rawValue: "flagLost")
        /// A call was refused because of the file's protection class and the state of the device.
        public static let protectionDenied = EventType(rawValue: "protectionDenied")
        /// The lock state has changed, or access has expired (`inactive`).
        public static let device = EventType(rawValue: "device")
        /// The clock was advanced.
        public static let clock = EventType(rawValue: "clock")
        /// The state of the app was changed by a command, or the app was updated or deleted.
        public static let app = EventType(rawValue: "app")
        /// A process held a lock when the app was suspended.
        public static let lockHeld = EventType(rawValue: "lockHeld")
        /// The system terminated the app; `reason` says why, and `code` is the code of Apple's crash reports.
        public static let terminated = EventType(rawValue: "terminated")
        /// A policy of a folder was set or removed, or policies were checked or reset.
        public static let policy = EventType(rawValue: "policy")
        public static let backup = EventType(rawValue: "backup")
        public static let restore = EventType(rawValue: "restore")
        /// The disk under the store is full; the caller got EIO.
        public static let hostFull = EventType(rawValue: "hostFull")
        /// A call met a fault; `reason` is the rule, and `cause` the call, such as `write#12`.
        public static let fault = EventType(rawValue: "fault")
        /// Events were lost, mostly because they came too fast; `reason` begins with their number.
        public static let dropped = EventType(rawValue: "dropped")
        /// The app removed a file or folder. Only the journal has this type and the next two, so `events()` never returns them.
        public static let removed = EventType(rawValue: "removed")
        /// The app renamed a file or folder; `to` is the new path.
        public static let renamed = EventType(rawValue: "renamed")
        /// The app renamed a file over this one; `to` is the old path of that file.
        public static let replaced = EventType(rawValue: "replaced")
    }

    /// The trigger of a purge: docs/CONTROL.md, events.
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

    /// The purging rules. The default, `.documented`, follows Apple's documentation; `.device` follows the observed behaviour
    /// of devices. See docs/RULES.md, Profiles.
    public struct Profile: ContainerWord {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let documented = Profile(rawValue: "documented")
        public static let device = Profile(rawValue: "device")
    }

    /// The durability of a place: docs/RULES.md, Words.
    public enum Tier: String, Hashable, Codable, Sendable { case temporary, caches, persistent }

    /// The pressure on free space: docs/RULES.md, Capacity.
    public enum Pressure: String, Hashable, Codable, Sendable { case normal, nearLow, low, veryLow }

    public enum DeviceState: String, Hashable, Codable, Sendable {
        /// `locking` lasts ten simulated seconds, in which protected files stay accessible. `locked` includes the time after
        /// access to files of class `completeWhenUserInactive` has expired.
        case unlocked, locking, locked, beforeFirstUnlock
    }

    /// How early a marked file is purged; `none` removes the mark: docs/XATTRS.md.
    public enum Urgency: String, Hashable, Sendable {
        case none = "0"
        case low, medium, high
    }

    /// A data protection class: docs/PROTECTION.md.
    public enum ProtectionClass: String, Hashable, Sendable {
        case complete, completeUnlessOpen, completeUntilFirstUserAuthentication, completeWhenUserInactive, none
    }

    /// A change to the app's state: docs/RULES.md, The life of a device.
    public enum AppChange: String, Hashable, Sendable {
        case launch, background, suspend, terminate, update, delete, offload, install
    }

    /// The state of the app: docs/RULES.md, The life of an app.
    public enum AppState: String, Hashable, Codable, Sendable {
        case foreground, background, suspended, terminated, offloaded
    }
}
