import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// What `status --watch` shows at one moment.
struct WatchedStatus: Sendable {
    var report: StatusReport
    /// The newest, oldest first.
    var events: [Event] = []
    /// What is missing, and why.
    var remarks: [String] = []

    /// Nothing on the mount is open when this returns. Events reach the journal within about a second.
    init(_ control: any ControlEndpoint, _ recent: inout RecentEvents) throws(CommandFailure) {
        report = try control.status()
        remarks = control.warnings
        do throws(CommandFailure) {
            try recent.update(from: report.store)
            events = recent.events
        } catch { remarks.append(error.message.split(separator: "\n").first.map(String.init) ?? "") }
    }

    init(report: StatusReport, events: [Event] = [], remarks: [String] = []) {
        (self.report, self.events, self.remarks) = (report, events, remarks)
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

    /// Has its control files read. nil once the container that was shown is no longer mounted; a store that is not
    /// mounted may be mounted at any time. What could not be read is reported on that console.
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

    /// This process must not keep the mount busy.
    private func leave(_ mountpoint: String) throws(CommandFailure) {
        do throws(Errno) {
            try System.changeDirectory("/")
        } catch { throw CommandFailure("cannot watch", path: mountpoint, error) }
    }
}
