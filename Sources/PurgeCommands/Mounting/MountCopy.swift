import Glibc
import PurgeSystem

/// A copy of a mount in another mount namespace (a sandbox, a container). The daemon goes on serving it after the mount
/// itself has been unmounted.
struct MountCopy {
    let entry: MountEntry
    /// A process in that namespace, and its command line.
    let pid: pid_t
    let command: String

    /// The copies of one mount, at most one for each namespace.
    static func all(of entry: MountEntry) -> [MountCopy] {
        all { $0.device == entry.device && $0.type == entry.type && $0.source.isPath(entry.source) }
    }

    /// A copy of a container that was once mounted here at `mountpoint`. Other namespaces may have containers of their own
    /// there, so its daemon must be in our namespace.
    static func container(at mountpoint: String) -> MountCopy? {
        all { $0.isContainer && $0.mountpoint.isPath(mountpoint) }.first { copy in
            ProcessTable.daemons(of: copy.entry.source).contains(where: ProcessTable.isInOurMountNamespace)
        }
    }

    private static func all(_ isMeant: (MountEntry) -> Bool) -> [MountCopy] {
        ProcessTable.otherMountNamespaces().compactMap { pid in
            MountEntry.all(of: "\(pid)").last(where: isMeant).map {
                MountCopy(entry: $0, pid: pid, command: ProcessTable.command(of: pid))
            }
        }
    }
}
