import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

extension Verb {
    static let list = Verb(
        name: "list", summary: "show all mounted containers",
        synopsis: "[--json]",
        description: [
            "Shows each mounted container in this mount namespace: its free space and size, its pressure level, the state of "
                + "its device, its mount point and its store."
        ],
        options: [OptionSpec("json", "print one JSON object per line for each container")],
        operands: 0...0,
        exitStatus: [
            ExitStatus.line(ExitStatus.done), ExitStatus.line(ExitStatus.failed), ExitStatus.line(ExitStatus.usage),
        ],
        examples: ["purgefs list"]
    ) { (invocation) throws(CommandFailure) in
        let containers = MountEntry.containers().filter { MountEntry.container(at: $0.mountpoint) == $0 }
        let rows = containers.map(ListedContainer.init)
        let console = invocation.console
        if invocation.arguments.has(.json) {
            for row in rows { try console.print(JSONText.encode(row)) }
        } else if rows.isEmpty {
            try console.print("no container is mounted")
        } else {
            try console.print(ListedContainer.heading)
            for row in rows { try console.print(row.line) }
        }
        return ExitStatus.done
    }
}

/// A mounted container in the output of `list`.
private struct ListedContainer: Encodable {
    let mountpoint: String
    let store: String
    var total: Int64?
    var available: Int64?
    var pressure: String?
    var state: String?
    /// The reason why the numbers are missing, and what to do.
    var problem: String?

    init(_ entry: MountEntry) {
        (mountpoint, store) = (entry.mountpoint, entry.source)
        if let daemon = StoppedDaemonWatch.daemon(of: entry) {
            problem = "its daemon is stopped; continue it: kill -CONT \(daemon)"
            return
        }
        do throws(Errno) {
            read(try MountedControl(place: mountpoint).read(.status))
        } catch .socketNotConnected {
            problem = "its daemon has ended; remove the mount: purgefs unmount \(mountpoint)"
        } catch .accessDenied {
            let isOwn = entry.owner == geteuid()
            problem = isOwn ? "its mode keeps you out" : "only \(AccessAdvice.name(entry.owner ?? 0)) may use it"
        } catch { problem = "cannot read its status: \(error)" }
    }

    private mutating func read(_ text: String) {
        do {
            let status = try JSONText.decode(StatusReport.self, from: text)
            (total, available) = (status.storage.total.bytes, status.storage.available.bytes)
            (pressure, state) = (status.pressure.rawValue, "\(status.device.state)")
        } catch { problem = "it was mounted by another version of purgefs" }
    }

    static let heading = line("free", "total", "pressure", "device", "mount point")

    var line: String {
        let place = "\(VisibleText.of(mountpoint))  (store \(VisibleText.of(store)))"
        guard problem == nil else { return Self.line("-", "-", "-", "-", "\(place): \(VisibleText.of(problem ?? ""))") }
        return Self.line(size(available), size(total), pressure ?? "", state ?? "", place)
    }

    private static func line(_ free: String, _ total: String, _ pressure: String, _ state: String, _ place: String)
        -> String
    {
        HelpText.aligned(free, 10) + HelpText.aligned(total, 12) + "  " + HelpText.padded(pressure, 10)
            + HelpText.padded(state, 19) + place
    }

    private func size(_ bytes: Int64?) -> String { ByteCount(bytes ?? 0).inWords }
}
