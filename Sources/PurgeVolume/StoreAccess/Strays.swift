import PurgeSystem
import PurgeTree
import Synchronization

/// Names in the store that the tree does not know. Each was made for a call that then failed, and could not be removed at
/// that moment.
final class Strays: Sendable {
    /// Locked while strays are removed. A thread that is about to make a name waits for that, so its entry is not taken for
    /// the stray that had the name before.
    private let names = Mutex<[Dentry]>([])
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func add(_ dentry: Dentry) { change { $0.append(dentry) } }

    func contains(_ dentry: Dentry) -> Bool { names.withLock { $0.contains(dentry) } }

    /// Drops the strays for which `remove` returns true, because they are gone.
    func removeAll(_ remove: (Dentry) -> Bool) { change { $0.removeAll(where: remove) } }

    private func change(_ body: (inout [Dentry]) -> Void) {
        names.withLock { names in
            body(&names)
            count.store(names.count, ordering: .releasing)
        }
    }
}

extension NameChanges {
    /// Removes from the store an entry that will not be in the tree, or notes it as a stray.
    func withdrawEntry(_ name: Name, in parent: Node, at directory: Int32) {
        if !removeUnknown(name, at: directory) { core.strays.add(Dentry(directory: parent, name: name)) }
    }

    /// Removes a name. Returns whether it is gone.
    private func removeUnknown(_ name: Name, at directory: Int32) -> Bool {
        do throws(Errno) {
            try name.withCName { (name) throws(Errno) in
                do throws(Errno) { try System.unlink(at: directory, name) } catch .isDirectory {
                    try System.removeDirectory(at: directory, name)
                }
            }
            return true
        } catch { return error == .noEntry }
    }

    /// Tries again to remove the strays.
    func withdrawStrays() {
        guard !core.strays.isEmpty else { return }
        core.strays.removeAll { stray in
            do throws(Errno) {
                let directory = try access.directoryDescriptor(stray.directory)
                return removeUnknown(stray.name, at: directory.raw)
            } catch { return error == .noEntry || error == .stale }  // the directory of the stray is gone
        }
    }

    /// Clears the way for a name that is about to be made. Throws EIO if the store has a stray of that name that cannot be
    /// removed.
    func makeWay(for name: Name, in parent: Node) throws(Errno) {
        guard !core.strays.isEmpty else { return }
        withdrawStrays()
        if core.strays.contains(Dentry(directory: parent, name: name)) { throw .ioError }
    }
}
