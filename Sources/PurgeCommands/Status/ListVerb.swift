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
            "Shows each container that can be reached at its mount point: its free space and size, its pressure level, "
                + "the state of its device, its mount point and its store."
        ],
        options: [OptionSpec("json", "print one JSON object per line for each container")],
        operands: 0...0,
        exitStatus: ExitStatus.plain,
        examples: ["purgefs list"]
    ) { (invocation) throws(CommandFailure) in
        let mounts = MountEntry.all()
        let newest = Dictionary(mounts.map { ($0.mountpoint, $0) }, uniquingKeysWith: { $1 })
        let containers = mounts.filter { $0.isContainer && newest[$0.mountpoint] == $0 }
        let console = invocation.console
        let asJSON = invocation.arguments.has(.json)
        if !asJSON { try console.print(containers.isEmpty ? "no container is mounted" : ListedContainer.heading) }
        for container in containers {
            let row = ListedContainer(container)
            try console.print(asJSON ? JSONText.encode(row) : row.line)
            // The next container may have to be waited for. A pipe gets all lines at once, because its reader may close it
            // after the line that it looked for.
            if console.isTerminal { try console.flush() }
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

    /// The seconds to wait for the answer of a daemon that was not stopped.
    private static let patience = 10

    init(_ entry: MountEntry) {
        (mountpoint, store) = (entry.mountpoint, entry.source)
        do throws(Errno) {
            let control = MountedControl(place: mountpoint)
            var seconds = 0
            let answer = try TimeLimit.run(
                milliseconds: 1000,
                while: {
                    seconds += 1
                    return seconds < Self.patience && StoppedDaemonWatch.daemon(of: entry) == nil
                }
            ) {
                Result { () throws(Errno) in try control.read(.status) }
            }
            guard let answer else {
                let daemon = StoppedDaemonWatch.daemon(of: entry)
                problem =
                    daemon.map { "its daemon is stopped; continue it: kill -CONT \($0)" }
                    ?? "its daemon does not answer"
                return
            }
            read(try answer.get())
        } catch let error where error == .socketNotConnected || error == .connectionAbort {
            problem = "its daemon has ended; remove the mount: purgefs unmount \(ShellWord.of(mountpoint))"
        } catch .accessDenied {
            let isOwn = entry.owner == geteuid()
            let owner = entry.owner.map(AccessAdvice.name) ?? "another user"
            problem = isOwn ? "its mode keeps you out; chmod u+rx it" : "it belongs to \(owner); run this as that user"
        } catch { problem = "cannot read its status: \(error)" }
    }

    private mutating func read(_ text: String) {
        do {
            let status = try JSONText.decode(StatusReport.self, from: text)
            (total, available) = (status.storage.total.bytes, status.storage.available.bytes)
            (pressure, state) = (status.pressure.rawValue, "\(status.device.state)")
        } catch { problem = "it was mounted by another version of purgefs; use that one" }
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
