import Glibc
import PurgeSystem
import PurgeTree
import Synchronization

/// The remains of a removed directory, link or special file. They are kept until the kernel forgets the entry, because fstat(2)
/// must work until then.
enum Remains {
    /// A descriptor of the removed entry.
    case open(RemovedEntry)
    /// The attributes of the entry when it was removed, if descriptors are scarce.
    indirect case known(FileStatus)

    var location: Location {
        switch self {
        case .open(let entry): .itself(entry.descriptor)
        case .known(let status): .known(status)
        }
    }

    var descriptor: FileDescriptor? {
        if case .open(let entry) = self { entry.descriptor } else { nil }
    }
}

/// A descriptor that is kept for a removed entry.
final class RemovedEntry: Sendable {
    /// Number of such descriptors in all volumes of this process. They count among the files that the app has open.
    static let alive = Atomic<Int>(0)
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

extension StoreAccess {
    /// Returns the remains to keep of a node; nil if none are needed or none can be obtained. Called before the name is
    /// removed.
    func remains(of node: Node, _ name: Name, in directory: FileDescriptor) -> Remains? {
        if node.isRegular { return nil }
        if RemovedEntry.alive.load(ordering: .relaxed) < budget.removed {
            do throws(Errno) {
                return .open(
                    RemovedEntry(try name.withCName { (name) throws(Errno) in try open(node, name, in: directory) }))
            } catch {}  // usually because no descriptor is free
        }
        do throws(Errno) {
            var status = try name.withCName { (name) throws(Errno) in try System.status(at: directory.raw, name) }
            // Some file systems that are FUSE mounts themselves report 0 links.
            status.st_nlink = node.isDirectory ? 0 : max(1, status.st_nlink) - 1
            return .known(status)
        } catch { return nil }
    }

    private func open(_ node: Node, _ name: CName, in directory: FileDescriptor) throws(Errno) -> FileDescriptor {
        guard node.isDirectory else { return try directory.open(name, System.openPath) }
        do throws(Errno) { return try directory.open(name, O_RDONLY | O_DIRECTORY) } catch {
            // The owner may lack permission to read the directory, and can nevertheless change its attributes.
            guard error == .accessDenied else { throw error }
            return try directory.open(name, System.openPath | O_DIRECTORY)
        }
    }
}

extension NodeState {
    /// Keeps the remains of the node once its last name is gone.
    mutating func leave(_ remains: Remains?) {
        if let remains, isUnlinked { io.remains = remains }
    }
}
