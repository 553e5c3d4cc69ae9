import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// A folder in the container of a store that no daemon holds. Names are looked up in the tree, so symbolic links are never
/// followed. Removing an entry removes it from both the store and the ledger.
public struct OfflineFolder {
    private let volume: Volume
    private let node: Node
    private let isForReading: Bool

    public struct Entry: Sendable {
        /// The name, with a terminating zero.
        public var name: RawText
        public var isFolder: Bool
        public var isLink: Bool
        public var inode: UInt64
        /// Number of names that the entry has in the container.
        public var names: Int
        public var charged: ByteCount

        fileprivate init(_ name: Name, _ node: Node, _ state: borrowing VolumeState) {
            self.name = name.withCName { System.rawText($0) }
            isFolder = node.isDirectory
            isLink = node.kind == .symbolicLink
            inode = node.inode
            names = state[node].nameCount
            charged = node.isRegular ? state[node].charged : .zero
        }
    }

    init(_ volume: Volume, _ node: Node, isForReading: Bool) {
        (self.volume, self.node, self.isForReading) = (volume, node, isForReading)
    }

    /// The entries, in no particular order.
    public var entries: [Entry] { volume.read { state in state[node].entries.map { Entry($0.key, $0.value, state) } } }

    public func entry(_ name: CName) throws(Errno) -> Entry {
        let child = try child(name)
        return volume.read { Entry(Name(name), child, $0) }
    }

    /// Returns the folder of this name. Throws ELOOP for a symbolic link, and ENOTDIR for anything else that is not a folder.
    public func folder(_ name: CName) throws(Errno) -> OfflineFolder {
        let child = try child(name)
        guard child.isDirectory else { throw child.kind == .symbolicLink ? Errno(ELOOP) : .notDirectory }
        return OfflineFolder(volume, child, isForReading: isForReading)
    }

    private func child(_ name: CName) throws(Errno) -> Node {
        guard let child = volume.read({ $0[node].entry(named: Name(name)) }) else { throw .noEntry }
        return child
    }

    /// Removes an entry. A folder must be empty.
    public func remove(_ name: CName, isFolder: Bool) throws(Errno) {
        if isForReading { throw .readOnly }
        let caller = Caller(owner: geteuid(), group: getegid(), tid: 0, umask: 0)
        if isFolder {
            try volume.removeDirectory(name, in: node, caller: caller)
        } else {
            try volume.unlink(name, in: node, caller: caller)
        }
    }
}

extension OfflineVolume {
    /// The container's own folder.
    public var folder: OfflineFolder { OfflineFolder(volume, volume.root, isForReading: isForReading) }
}
