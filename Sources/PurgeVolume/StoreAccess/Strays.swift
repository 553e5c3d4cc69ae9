import PurgeSystem
import PurgeTree
import Synchronization

/// Names in the store that the tree does not know: each was made for a call that then failed, and could not be removed
/// at that moment.
final class Strays: Sendable {
    /// Held while they are removed. A thread that is about to make a name waits for that, so what it makes is not taken
    /// for the stray that had the name before.
    private let names = Mutex<[Dentry]>([])
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func add(_ dentry: Dentry) { change { $0.append(dentry) } }

    func contains(_ dentry: Dentry) -> Bool { names.withLock { $0.contains(dentry) } }

    /// Drops those of which `remove` returns that they are gone.
    func removeAll(_ remove: (Dentry) -> Bool) { change { $0.removeAll(where: remove) } }

    private func change(_ body: (inout [Dentry]) -> Void) {
        names.withLock { names in
            body(&names)
            count.store(names.count, ordering: .releasing)
        }
    }
}

extension NameChanges {
    /// Removes from the store what will not be in the tree.
    func withdrawEntry(_ name: Name, in parent: Node, at directory: Int32) {
        if !removeUnknown(name, at: directory) { core.strays.add(Dentry(directory: parent, name: name)) }
    }

    /// Whether it is gone.
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

    /// Tries once more to remove what could not be removed.
    func withdrawStrays() {
        guard !core.strays.isEmpty else { return }
        core.strays.removeAll { stray in
            do throws(Errno) {
                let directory = try access.directoryDescriptor(stray.directory)
                return removeUnknown(stray.name, at: directory.raw)
            } catch { return error == .noEntry || error == .stale }  // its directory is gone
        }
    }

    /// To be called before a name is made: EIO if the store has a stray of that name which cannot be removed.
    func makeWay(for name: Name, in parent: Node) throws(Errno) {
        guard !core.strays.isEmpty else { return }
        withdrawStrays()
        if core.strays.contains(Dentry(directory: parent, name: name)) { throw .ioError }
    }
}
