import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// An invocation of `purgefs events`: the events to show, and their format.
struct EventsRun {
    let console: Console
    var asJSON = false
    var follows = false
    var isSummary = false
    var filter = EventFilter.usual
    /// The maximum number of past events to show, the newest ones; nil for all.
    var tail: Int?
    var since: Since?

    /// How long to wait, in nanoseconds, for the last events of a mount to reach the journal, and for the mount to disappear.
    private static let patience: Int64 = 5_000_000_000

    func run(on target: Target) throws(CommandFailure) {
        switch target {
        case .store(let store):
            let filter = try filter(relativeTo: [(Places.resolved(store) ?? store) + "/container"]) {
                () throws(CommandFailure) in try Since.clock(ofStore: store)
            }
            guard !follows else {
                throw CommandFailure(
                    "cannot follow events", path: store, "the store is not mounted, so it has no new events",
                    advice: "Mount it, or leave out --follow.")
            }
            _ = try showHistory(of: store, filter)
        case .mount(let path):
            try run(on: MountedControl(place: path))
        }
    }

    private func run(on control: MountedControl) throws(CommandFailure) {
        let (path, report) = (control.place, try control.status())
        if let loss = Target.loss(of: report.store, at: path, "cannot read the journal") { throw loss }
        let filter = try filter(relativeTo: [path, report.store + "/container"]) { report.device.clock }
        // Opened first, so that no event is lost between the journal and the stream.
        let stream = follows ? try EventStream(control) : nil
        let followed = follows ? FollowedMount(control: control, store: report.store) : nil
        try control.flushJournal()
        let last = try showHistory(of: report.store, filter)
        guard let stream, let followed else { return }
        try console.flush()
        if filter.acceptsApp {
            try followJournal(stream, filter, followed, after: last)
        } else {
            try follow(stream, filter, followed, after: last)
        }
        try checkEnd(of: followed)
    }

    /// Returns the filter with its pattern made relative to the container, which is seen at `roots`, and with its time
    /// converted to the device's clock. `clock` returns how many seconds the device's clock is ahead of real time.
    private func filter(
        relativeTo roots: [String], clock: () throws(CommandFailure) -> Int64
    ) throws(CommandFailure) -> EventFilter {
        var filter = filter
        filter.since = try since?.time(clock)
        guard let glob = filter.glob else { return filter }
        guard let relative = ContainerGlob.relative(glob, roots: roots) else {
            throw CommandFailure(
                "cannot show events", path: glob, "it is outside of the container",
                advice: "Write it relative to the container, or below \(roots[0]).")
        }
        guard ContainerGlob.canMatch(relative) else {
            throw .usage("--path: '\(glob)' matches no path: GLOB is relative to the container, as in Documents/*")
        }
        filter.glob = relative
        return filter
    }

    /// Shows the accepted events of the journal, or their summary. Returns the sequence number after which to go on.
    private func showHistory(of store: String, _ filter: EventFilter) throws(CommandFailure) -> Int64 {
        let history = try History(store: store)
        let last = try history.lastSequence()
        let start = try tail.map { (count) throws(CommandFailure) in
            try history.sequence(beforeNewest: count, filter)
        }
        guard isSummary else { return max(last, try show(history, filter, after: start ?? 0)) }
        var summary = EventSummary()
        try history.visit(after: start ?? 0, filter) { summary.add($0) }
        if asJSON {
            try console.print(JSONText.encode(summary.report))
        } else {
            for line in EventSummaryText(report: summary.report).lines { try console.print(line) }
        }
        return last
    }

    /// Shows the events after `sequence`. Returns the number of the last one, or `sequence` if there is none.
    private func show(
        _ history: History, _ filter: EventFilter, after sequence: Int64
    ) throws(CommandFailure) -> Int64 {
        var shown = sequence
        try history.visit(after: sequence, filter) { (event) throws(CommandFailure) in
            shown = event.seq
            try show(event)
        }
        return shown
    }

    private func show(_ event: Event, line: String? = nil) throws(CommandFailure) {
        guard !asJSON else { return try console.print(line ?? JSONText.encode(event)) }
        for line in EventText(event: event).lines(width: console.width) { try console.print(line) }
    }
}

/// The mount whose events are followed.
private struct FollowedMount {
    let control: MountedControl
    let store: String
    private let daemons: [pid_t]

    init(control: MountedControl, store: String) {
        (self.control, self.store) = (control, store)
        daemons = MountEntry.container(at: control.place).map { ProcessTable.daemons(of: MountedStore($0)) } ?? []
    }

    /// Whether the mount's daemon may still write events and unmount. True if this user cannot see the daemon.
    var mayUnmount: Bool { daemons.isEmpty || daemons.contains(where: ProcessTable.isRunning) }
}

// New events, as they happen.
extension EventsRun {
    private func follow(
        _ stream: EventStream, _ filter: EventFilter, _ mount: FollowedMount, after sequence: Int64
    ) throws(CommandFailure) {
        var last = sequence
        while let record = try stream.next() {
            switch record {
            case .event(let event, let line) where event.seq > last:
                last = event.seq
                guard filter.accepts(event) else { continue }
                try show(event, line: line)
            case .event: continue
            case .dropped:
                try mount.control.flushJournal()
                let history = try History(store: mount.store)
                let end = try history.lastSequence()
                last = max(end, try show(history, filter, after: last))
            }
            try console.flush()
        }
    }

    /// Follows the journal, which is read every second. Only the journal has the app's own name changes. The stream is only
    /// used to detect the end of the mount.
    private func followJournal(
        _ stream: EventStream, _ filter: EventFilter, _ mount: FollowedMount, after sequence: Int64
    ) throws(CommandFailure) {
        var last = sequence
        while true {
            let isOver = try stream.hasEnded(within: 1000)
            if !isOver {
                // If this fails because the mount is ending, the stream says so next.
                do throws(CommandFailure) { try mount.control.flushJournal() } catch {
                    guard try stream.hasEnded(within: 1000) else { throw error }
                    continue
                }
            } else {
                try awaitEvents(ofUnmount: mount, after: last)
            }
            let history = try History(store: mount.store)
            let end = try history.lastSequence()
            last = max(end, try show(history, filter, after: last))
            try console.flush()
            if isOver { return }
        }
    }

    /// Fails if the daemon has ended without an unmount. Waits for the mount to disappear, because an unmount may end the
    /// connection earlier.
    private func checkEnd(of mount: FollowedMount) throws(CommandFailure) {
        let (place, deadline) = (mount.control.place, System.uptime() + Self.patience)
        while true {
            // Read before the mount table: a daemon that ends in between may have unmounted.
            let mayUnmount = mount.mayUnmount
            guard MountEntry.container(at: place) != nil, Places.isDead(place) else { return }
            guard mayUnmount, System.uptime() < deadline else {
                _ = try mount.control.status()
                return
            }
            _ = Gate().wait(while: 0, milliseconds: 50)
        }
    }

    /// Waits until the journal has the event of the unmount, which the daemon writes after the mount has disappeared. Gives up
    /// when the daemon has ended or `patience` has passed.
    private func awaitEvents(ofUnmount mount: FollowedMount, after sequence: Int64) throws(CommandFailure) {
        let deadline = System.uptime() + Self.patience
        let ends = EventFilter(types: [.unmount])
        while true {
            let mayWrite = mount.mayUnmount
            let hasEnd = try !History(store: mount.store).events(after: sequence, ends).isEmpty
            guard mayWrite, !hasEnd, System.uptime() < deadline else { return }
            _ = Gate().wait(while: 0, milliseconds: 50)
        }
    }
}
