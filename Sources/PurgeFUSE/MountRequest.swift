import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// What to mount, where and how.
public struct MountRequest: Sendable {
    /// As it was given; relative to the working directory at the time of the call.
    public var storePath: String
    public var mountpoint: String
    public var settings = SettingsChange()
    public var allowsOther = false
    /// Further options for mount(8), as after `-o`.
    public var options: [String] = []
    /// Which access times reading must not change, if the mount is not read-only.
    public var untouched: UntouchedTimes = []

    /// The store that has to be there, as the process that started this one has seen it.
    public var knownStore: FileIdentity?
    /// The start that has prepared the store for this mount, by the name that it has left there.
    public var start: String?
    /// Whether to warn that the disk under the store has less room than the device.
    public var warnsOfSmallDisk = true
    /// Whether a process still waits for the mount to be ready, so that an end now counts as a failure.
    public var isAwaited: @Sendable () -> Bool = { false }
    /// The process for which the app is launched before the mount is ready, and terminated at its end; nil if that is left to
    /// others.
    public var appProcess: Int32? {
        get { isReadOnly ? nil : givenAppProcess }
        set { givenAppProcess = newValue }
    }
    private var givenAppProcess: Int32?
    /// Whether the store goes after the mount and nobody looks at it before, so that nothing need be written at the end.
    public var isStoreDiscarded = false
    /// Called when the mount has ended, all events have been sent, and nothing more is done with the store.
    public var whenComplete: (@Sendable (StatusReport, _ hostRefusals: Int) -> Void)?
    /// Called when nothing is served any more, before what is still held is written to the store.
    public var whenEnding: @Sendable () -> Void = {}
    /// Gets all events of the mount.
    public var eventSink: EventSink?
    /// Gets a line for each request and event.
    public var trace: Trace?
    /// Whether the mount is read-only; of several options the last counts.
    var isReadOnly: Bool { options.last { $0 == "ro" || $0 == "rw" } == "ro" }

    /// Which access times reading must not change.
    var untouchedTimes: UntouchedTimes { isReadOnly ? [.files, .directories] : untouched }

    public init(storePath: String, mountpoint: String) {
        self.storePath = storePath
        self.mountpoint = mountpoint
    }
}
