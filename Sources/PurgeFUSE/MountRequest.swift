import PurgeModel
import PurgeStore
import PurgeVolume

/// What is to be mounted, where and how.
public struct MountRequest: Sendable {
    /// As given; relative to the working directory at the time of the call.
    public var storePath: String
    public var mountpoint: String
    public var settings = SettingsChange()
    public var allowsOther = false
    /// Further options for mount(8), as after `-o`.
    public var options: [String] = []
    /// What reading is not to leave a trace in.
    public var untouched: UntouchedTimes = []

    /// The start that has made the store ready for this mount, by the name that it has left there.
    public var start: String?
    /// Whether to say that the disk under the store has less room than the device.
    public var warnsOfSmallDisk = true
    /// Whether somebody still waits for the mount to work, and counts it as failed if it ends now.
    public var isAwaited: @Sendable () -> Bool = { false }
    /// Gets all events of the mount.
    public var eventSink: EventSink?
    /// Whether nothing is to change through the mount: of several options the last counts.
    var isReadOnly: Bool { options.last { $0 == "ro" || $0 == "rw" } == "ro" }

    public init(storePath: String, mountpoint: String) {
        self.storePath = storePath
        self.mountpoint = mountpoint
    }
}
