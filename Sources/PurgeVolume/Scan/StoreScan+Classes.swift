import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

// A file without a class of its own has the device's default, which changes only at a mount. So its class is stored only when
// the default changes, not when the file is made.
extension StoreScan {
    /// Stores the former default class with each file that has no class of its own. Returns the number of these files.
    ///
    /// Called before anything is served. Unless the store is temporary, the classes are on disk when this returns, so that the
    /// new default may be saved.
    @discardableResult
    public func keepClasses(of former: FileProtection) throws(StoreError) -> Int {
        var place: (node: Node, name: Name?) = (root, nil)
        var stored = 0
        var folders = [root]
        do throws(Errno) {
            while let folder = folders.popLast() {
                for (name, node) in entries(of: folder) {
                    if node.isDirectory { folders.append(node) }
                    guard node.isRegular, read({ $0[node].protection }) == nil else { continue }
                    if System.endSignal() != nil { throw .interrupted }
                    place = (folder, name)
                    try keep(former, of: node, name, in: try access.directoryDescriptor(folder))
                    stored += 1
                }
            }
            place = (root, nil)
            if stored > 0, !store.isTemporary { try System.syncFileSystem(store.container.raw) }
        } catch .interrupted {
            throw .interrupted(store.path)
        } catch {
            throw StoreError(
                "the default class that it was made with cannot be stored: \(error)", path: pathInStore(of: place),
                advice: Self.advice(on: error) + ", or leave --protection out. " + Self.unchanged(storedWith: stored))
        }
        return stored
    }

    private static func advice(on error: Errno) -> String {
        switch error {
        case .notPermitted, .accessDenied: "Make the file changeable (chattr -i if lsattr shows an i)"
        case .noSpace, Errno(EDQUOT): "Make room on the disk under the store"
        default: "Check the file system of the store"
        }
    }

    /// Returns a sentence about the state that a failed change of the default class leaves.
    public static func unchanged(storedWith files: Int) -> String {
        let kept = files == 1 ? "1 file has" : "\(files) files have"
        return "The default class is unchanged" + (files == 0 ? "." : "; \(kept) it stored now.")
    }

    private func keep(
        _ former: FileProtection, of node: Node, _ name: Name, in folder: FileDescriptor
    ) throws(Errno) {
        try name.withCName { (name) throws(Errno) in
            do throws(Errno) { try extendedAttributes.store(former, of: folder.raw, name) } catch {
                guard error == .accessDenied, geteuid() != 0 else { throw error }
                // The owner of the file may lack permission to write to it.
                let entry = try folder.open(name, System.openPath)
                try access.asOwner(of: entry) { () throws(Errno) in
                    try extendedAttributes.store(former, of: folder.raw, name)
                }
            }
        }
        change { $0.tree.set(.protection(former), of: node) }
    }
}
