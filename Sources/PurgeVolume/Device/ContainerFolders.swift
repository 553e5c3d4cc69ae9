import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// The folders that every container has, and the container itself.
struct ContainerFolders: VolumeFamily {
    let core: VolumeCore

    /// Makes the missing folders, for the store's owner. Anything that the app has put in a folder's place stays.
    func make() {
        let missing = Store.folders.filter { !isThere($0) }
        guard !missing.isEmpty else { return }
        // A mount makes the folders through the kernel, which caches present and missing names.
        switch makeThroughKernel(missing) {
        case .done: return
        case .late:
            core.lateAnnouncements.add(1, ordering: .relaxed)
            return
        case .unavailable: break
        }
        for folder in missing {
            do throws(Errno) { try make(folder) } catch { report(folder, error) }
        }
    }

    private func makeThroughKernel(_ folders: [String]) -> FolderMaking {
        do throws(Errno) { return port.makeFolders(folders, for: try store.owner) } catch { return .unavailable }
    }

    /// Whether the directory is one of the folders that every container has.
    func include(_ directory: Node, in state: borrowing VolumeState) -> Bool {
        Store.folders.contains { node(of: $0.split(separator: "/")[...], in: state) === directory }
    }

    private func isThere(_ folder: String) -> Bool {
        read { node(of: folder.split(separator: "/")[...], in: $0) != nil }
    }

    private func node(of path: ArraySlice<Substring>, in state: borrowing VolumeState) -> Node? {
        path.reduce(root) { (node: Node?, name) in node.flatMap { state[$0].entry(named: Name(String(name))) } }
    }

    private func make(_ folder: String) throws(Errno) {
        let path = folder.split(separator: "/")
        guard let parent = read({ node(of: path.dropLast(), in: $0) }), parent.isDirectory, let name = path.last
        else { return }
        let daemon = Caller(owner: geteuid(), group: getegid(), tid: 0, umask: 0)
        do throws(Errno) {
            let owner = try store.owner
            let caller = geteuid() == 0 ? Caller(owner: owner.user, group: owner.group, tid: 0, umask: 0) : daemon
            defer { core.actAs(daemon) }
            let made = try names.makeDirectory(String(name), in: parent, mode: 0o755, caller: caller)
            lookups.forget(made.node, count: 1)
        } catch .exists {
        } catch .accessDenied {
            // The app may have made the parent folder inaccessible, which is its own affair.
        }
    }

    private func report(_ folder: String, _ error: Errno) {
        port.report(
            StoreError(
                "the folder cannot be made: \(error)", path: store.path + "/container/" + folder,
                advice: "Make it in the mount."))
    }

    /// Whether an attribute is the app's. Attributes of the system, such as SELinux's, stay.
    private static func isOfApp(_ attribute: String) -> Bool {
        attribute.hasPrefix("user.") || attribute.hasPrefix("system.posix_acl_")
    }

    /// Resets the container's own directory to the state of a new one: without attributes of the app, owned by the store's
    /// owner, and with mode 755.
    func resetRoot() {
        let container = store.container.raw
        do throws(Errno) {
            for name in try StoredAttributes.names(of: container, nil) where Self.isOfApp(name.text) {
                try name.withCName { (name) throws(Errno) in
                    try System.removeAttribute(at: container, nil, name)
                }
            }
        } catch { report("", error) }
        store.giveContainerToOwner()
        do throws(Errno) { try System.changeMode(container, 0o755) } catch { report("", error) }
        change { state in
            state.tree.set(.mark(nil), of: root)
            state.tree.set(.exclusion(false), of: root)
            state.tree.set(.protection(nil), of: root)
            state.tree.set(.policy(nil), of: root)
            state.tree.set(.behaviour(PurgeBehaviour()), of: root)
            state[root].io.setTimes = SetTimes()
        }
        core.finishPlacing(below: [root])
        port.forgetAttributes(of: [KernelID.root])
    }
}
