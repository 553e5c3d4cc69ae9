import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// The parameters of a mount.
public struct MountRequest: Sendable {
    /// The path of the store; `serve` resolves a relative path against the working directory.
    public var storePath: String
    public var mountpoint: String
    public var settings = SettingsChange()
    public var allowsOther = false
    /// Further options for mount(8), as after `-o`.
    public var options: [String] = []
    public var transport = TransportChoice.auto
    /// The access times that reading must not change, if the mount is not read-only.
    public var untouched: UntouchedTimes = []

    /// The directory to which the store's path must lead, or `.new` if the store must be created. nil skips the check.
    public var expectedStore: ExpectedStore?
    /// The name in the store's `StartMark`, if a start has prepared the store for this mount; otherwise nil.
    public var start: String?
    /// Whether to warn that the disk under the store has less room than the device.
    public var warnsOfSmallDisk = true
    /// Whether a process still waits for the mount to be ready, so that ending now counts as a failure.
    public var isAwaited: @Sendable () -> Bool = { false }
    /// The state in which the app starts, with the process of `appProcess` or without one; nil if the app does not start.
    public var appState: AppState?
    /// Whether the children of `appProcess` are stopped, continued and killed as the state of the app says.
    public var controlsProcesses = false
    /// The folders that stand for containers of app groups.
    public var sharedFolders: [String] = []
    /// The process for which the app is launched before the mount is ready, and terminated at the end of the mount. nil if the
    /// mount is read-only, or if others launch and terminate the app.
    public var appProcess: Int32? {
        get { isReadOnly ? nil : givenAppProcess }
        set { givenAppProcess = newValue }
    }
    private var givenAppProcess: Int32?
    /// Whether the store is removed after the mount without being read, so that nothing need be written at the end.
    public var isStoreDiscarded = false
    /// Called when the mount has ended, after the last write to the store, which this process still holds. Not called without
    /// an event sink, or if not all events were sent.
    public var whenComplete: (@Sendable (StatusReport, _ hostRefusals: Int) -> Void)?
    /// Called when serving has ended, before pending state is written to the store.
    public var whenEnding: @Sendable () -> Void = {}
    /// Receives all events of the mount.
    public var eventSink: EventSink?
    /// Receives a line for each request and event.
    public var trace: Trace?
    public var record: CallRecord?
    /// Whether the mount is read-only; the last of several options counts.
    var isReadOnly: Bool { options.last { $0 == "ro" || $0 == "rw" } == "ro" }

    /// The access times that reading must not change.
    var untouchedTimes: UntouchedTimes { isReadOnly ? [.files, .directories] : untouched }

    public init(storePath: String, mountpoint: String) {
        self.storePath = storePath
        self.mountpoint = mountpoint
    }
}
