import Glibc
import PurgeSystem

/// The store that a mount serves. Its daemon has the store open, so the store may be moved, and another one put in its place.
package struct MountedStore: Hashable, Sendable {
    /// The path of the store when it was mounted.
    package let path: String
    /// The identity of the store's `container/`: the inode number that the root of the mount shows, and the device of the file
    /// system, within which the store may be moved. nil if that cannot be determined.
    package let container: Identity?
    /// Whether another store is at `path` now. False if that cannot be determined.
    package let isReplaced: Bool

    package struct Identity: Hashable, Sendable {
        package var device: Int64
        package var inode: Int64

        /// Reads the identity without asking a daemon.
        package init?(of path: String) {
            do throws(Errno) {
                (device, inode) = (try System.device(at: AT_FDCWD, path), try System.knownInode(ofPath: path))
            } catch { return nil }
        }
    }

    package init(_ entry: MountEntry) {
        path = entry.source
        guard let inode = entry.rootInode, var place = Identity(of: path.parentPath) else {
            (container, isReplaced) = (nil, false)
            return
        }
        place.inode = inode
        container = place
        isReplaced = Identity(of: path + "/container").map { $0.inode != inode } ?? false
    }
}

extension MountEntry {
    /// The inode number of the mount's root, which `container/` in the store has too. nil if the mount is not visible here, or
    /// the kernel has not asked for the number yet.
    fileprivate var rootInode: Int64? {
        guard let root = MountedStore.Identity(of: mountpoint), root.inode != 1,
            device == "\(root.device >> 32):\(root.device & 0xFFFF_FFFF)"
        else { return nil }
        return root.inode
    }
}
