import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

/// A copy of a mount in another mount namespace (a sandbox, a container). The daemon keeps serving it after the mount itself
/// has been unmounted.
struct MountCopy {
    let entry: MountEntry
    /// A process in the copy's namespace, and its command line.
    let pid: pid_t
    let command: String

    /// Returns the copies of one mount, at most one for each namespace.
    static func all(of entry: MountEntry) -> [MountCopy] {
        all { $0.device == entry.device && $0.type == entry.type && $0.source.isPath(entry.source) }
    }

    /// Returns a copy of a container that was once mounted here at `mountpoint`. Another namespace may have a different
    /// container at that path, so the daemon of the copy must be in our namespace.
    static func container(at mountpoint: String) -> MountCopy? {
        all { $0.isContainer && $0.mountpoint.isPath(mountpoint) }.first { copy in
            ProcessTable.daemons(of: copy.entry.source).contains(where: ProcessTable.isInOurMountNamespace)
        }
    }

    /// Returns the failure of a command that needs a store, if copies of a mount keep the store; otherwise nil.
    static func failure(_ what: String, store path: String) -> CommandFailure? {
        guard let store = Places.resolved(path), !DaemonEnd.isFree(store), Target.mount(ofStore: store) == nil,
            ProcessTable.daemons(of: store).contains(where: ProcessTable.isInOurMountNamespace)
        else { return nil }
        let copies = all { $0.isContainer && $0.source.isPath(store) }
        guard let entry = copies.first?.entry else { return nil }
        let daemon = DaemonEnd(entry)
        // The process that keeps the copy may be about to end.
        if daemon.wait(milliseconds: 500) { return nil }
        return kept(what, path, by: copies, daemon.daemons, at: entry.mountpoint)
    }

    /// Returns the failure for a store kept by copies of a mount that was at `mountpoint`.
    static func kept(
        _ what: String, _ path: String, by copies: [MountCopy], _ daemons: [pid_t], at mountpoint: String
    ) -> CommandFailure {
        let processes = copies.prefix(5).map { "process \($0.pid) (\(ProcessTable.shown($0.command)))" }
        let pids = daemons.map(String.init).joined(separator: ", ")
        return CommandFailure(
            what, path: path,
            "another mount namespace (a sandbox, a container) has a copy of the mount, so the daemon"
                + (pids.isEmpty ? "" : " (process \(pids))") + " still has the store",
            advice: (processes.map { "The copy is in the mount namespace of \($0)." } + [
                "End that process, or end the daemon (programs that use the copy get errors): "
                    + "purgefs unmount --force \(ShellWord.of(mountpoint))"
            ]).joined(separator: "\n  "))
    }

    private static func all(_ isMeant: (MountEntry) -> Bool) -> [MountCopy] {
        ProcessTable.otherMountNamespaces().compactMap { pid in
            MountEntry.all(of: "\(pid)").last(where: isMeant).map {
                MountCopy(entry: $0, pid: pid, command: ProcessTable.command(of: pid))
            }
        }
    }
}
