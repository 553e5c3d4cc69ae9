import PurgeSystem

/// What a path is inside of, according to the table of mounts: a bind mount may show a part of a store at another place
/// too. Paths are absolute and without symbolic links.
package struct Surroundings {
    /// The newest last.
    package let mounts: [MountEntry]

    package init(mounts: [MountEntry]) { self.mounts = mounts }

    /// The container that the path is in, through a mount of all or a part of it; also the one whose mount point it is.
    package func container(holding path: String) -> MountEntry? {
        var path = path
        while let mount = mount(of: path) {
            if mount.type == "fuse.purgefs" { return mount }
            guard mount.mountpoint != "/" else { return nil }
            path = mount.mountpoint.parentPath
        }
        return nil
    }

    /// The nearest store among the path itself and the directories above it.
    package func store(holding path: String, isStore: (String) -> Bool = Target.isStore) -> String? {
        views(of: path).joined().first(where: isStore)
    }

    /// The same without the path itself.
    package func store(above path: String, isStore: (String) -> Bool = Target.isStore) -> String? {
        views(of: path).dropFirst().joined().first(where: isStore)
    }

    /// Whether the path is `directory` or is inside it, under whatever name.
    func lies(_ path: String, in directory: String) -> Bool {
        views(of: path).joined().contains { $0.isPath(directory) }
    }

    /// The path and all directories above it, the nearest first, each with every name under which it can be seen.
    func views(of path: String) -> [[String]] {
        var views: [[String]] = []
        var path = path
        while let mount = mount(of: path), let rest = path.pathRest(after: mount.mountpoint) {
            var inner = Self.join(mount.root, rest)
            while true {
                views.append(names(of: inner, on: mount.device))
                // Some file systems show something other than a path as their root.
                guard inner != "/", inner.utf8.first == UInt8(ascii: "/") else { break }
                inner = inner.parentPath
            }
            guard mount.mountpoint != "/" else { return views }
            path = mount.mountpoint.parentPath
        }
        // Nothing is known about the mounts.
        while true {
            views.append([path])
            guard path != "/" else { return views }
            path = path.parentPath
        }
    }

    /// The names under which a directory of a file system can be seen.
    private func names(of inner: String, on device: String) -> [String] {
        mounts.compactMap { mount in
            guard mount.device == device, let rest = inner.pathRest(after: mount.root) else { return nil }
            let name = Self.join(mount.mountpoint, rest)
            return self.mount(of: name) == mount ? name : nil
        }
    }

    /// The mount that shows what is at the path: the newest of those above it.
    private func mount(of path: String) -> MountEntry? {
        mounts.last { path.pathRest(after: $0.mountpoint) != nil }
    }

    private static func join(_ directory: String, _ rest: String) -> String {
        rest.isEmpty ? directory : directory == "/" ? rest : directory + rest
    }
}
