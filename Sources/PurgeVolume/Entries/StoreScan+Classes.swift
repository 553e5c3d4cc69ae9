import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

// A file without a class of its own has the device's default, which changes only at a mount. So nothing is stored with such a
// file when it is made, but when the default changes.
extension StoreScan {
    /// Stores the default class that applied until now with each file that has none of its own. It is on the disk when this
    /// returns, so that the new default may be saved. Nothing is served yet.
    public func keepClasses(of former: FileProtection) throws(StoreError) {
        var place: (node: Node, name: Name?) = (root, nil)
        var hasStored = false
        var folders = [root]
        do throws(Errno) {
            while let folder = folders.popLast() {
                for (name, node) in entries(of: folder) {
                    if node.isDirectory { folders.append(node) }
                    guard node.isRegular, read({ _ in node.protection }) == nil else { continue }
                    if System.endSignal() != nil { throw .interrupted }
                    place = (folder, name)
                    try keep(former, of: node, name, in: try access.directoryDescriptor(folder))
                    hasStored = true
                }
            }
            place = (root, nil)
            if hasStored, !store.isTemporary { try System.syncFileSystem(store.container.raw) }
        } catch .interrupted {
            throw .interrupted(store.path)
        } catch {
            var failure = StoreError.failed(
                "the default class that it was made with cannot be stored", path: pathInStore(of: place), error)
            failure.advice =
                "The default was not changed. Change the file so that an attribute can be set (lsattr shows whether it is "
                + "immutable), or leave --protection out."
            throw failure
        }
    }

    private func keep(
        _ former: FileProtection, of node: Node, _ name: Name, in folder: FileDescriptor
    ) throws(Errno) {
        try name.withCName { (name) throws(Errno) in
            do throws(Errno) { try extendedAttributes.store(former, of: folder.raw, name) } catch {
                guard error == .accessDenied, geteuid() != 0 else { throw error }
                // The owner of the file may not be allowed to write to it.
                let entry = try folder.open(name, System.openPath)
                try access.asOwner(of: entry) { () throws(Errno) in
                    try extendedAttributes.store(former, of: folder.raw, name)
                }
            }
        }
        change { $0.tree.set(.protection(former), of: node) }
    }
}
