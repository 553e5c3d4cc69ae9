import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// The content of `status --watch` at one moment.
struct WatchedStatus: Sendable {
    var report: StatusReport
    var events = EventGroups()
    /// The free space of the last readings, one a second, oldest first.
    var free: [ByteCount] = []
    /// Messages about parts of the content that could not be read, each with the reason.
    var remarks: [String] = []

    /// Reads the status. Leaves nothing on the mount open. Events reach the journal within about a second.
    init(_ control: any ControlEndpoint, _ recent: inout RecentEvents) throws(CommandFailure) {
        report = try control.status()
        remarks = control.warnings
        do throws(CommandFailure) {
            try recent.update(from: report.store)
            events = recent.events
        } catch { remarks.append(error.message.split(separator: "\n").first.map(String.init) ?? "") }
    }

    init(report: StatusReport, events: EventGroups = EventGroups(), free: [ByteCount] = [], remarks: [String] = []) {
        (self.report, self.events, self.free, self.remarks) = (report, events, free, remarks)
    }
}

/// The container that `status --watch` shows, until it is unmounted.
struct WatchedContainer: Sendable {
    private let text: String?
    private var target: Target
    var place: String { target.place }

    init(_ text: String?) throws(CommandFailure) {
        self.text = text
        target = try Target(text)
    }

    /// Runs `body` on the container's control endpoint, whether or not the container is mounted. Returns nil once a mounted
    /// container is unmounted. Looks up an unmounted store again at each call, because it may have been mounted meanwhile.
    /// Parts that could not be read are reported on `warnings`.
    mutating func with<Result>(
        warnings: Console?, _ body: (any ControlEndpoint) throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result? {
        if case .store = target { target = try Target(text) }
        guard case .mount(let mountpoint) = target else {
            return try target.with(forReading: true, warnings: warnings, body)
        }
        do throws(CommandFailure) {
            try leave(mountpoint)
            return try target.with(forReading: true, warnings: warnings, body)
        } catch {
            guard MountEntry.container(at: mountpoint) == nil else { throw error }
            return nil
        }
    }

    /// Leaves the mount, which this process must not keep busy.
    private func leave(_ mountpoint: String) throws(CommandFailure) {
        do throws(Errno) {
            try System.changeDirectory("/")
        } catch { throw CommandFailure("cannot watch", path: mountpoint, error) }
    }
}
