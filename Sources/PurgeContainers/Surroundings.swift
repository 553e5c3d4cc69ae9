import PurgeSystem

/// The containers and stores that enclose a path, according to the table of mounts. The table is needed because a bind mount
/// may show a part of a store elsewhere. Paths are absolute and without symbolic links.
package struct Surroundings {
    /// The mounts, the newest last.
    package let mounts: [MountEntry]

    package init(mounts: [MountEntry]) { self.mounts = mounts }

    /// Returns the container that holds the path, or whose mount point it is. The mount may show all or a part of the
    /// container.
    package func container(holding path: String) -> MountEntry? {
        var path = path
        while let mount = mount(of: path) {
            if mount.type == "fuse.purgefs" { return mount }
            guard mount.mountpoint != "/" else { return nil }
            path = mount.mountpoint.parentPath
        }
        return nil
    }

    /// Returns the nearest store among the path itself and the directories above it.
    package func store(holding path: String, isStore: (String) -> Bool = Target.isStore) -> String? {
        views(of: path).joined().first(where: isStore)
    }

    /// Returns the nearest store above the path.
    package func store(above path: String, isStore: (String) -> Bool = Target.isStore) -> String? {
        views(of: path).dropFirst().joined().first(where: isStore)
    }

    /// Whether `path`, under any of its names, is `directory` or is inside it.
    func lies(_ path: String, in directory: String) -> Bool {
        views(of: path).joined().contains { $0.isPath(directory) }
    }

    /// Returns the path and all directories above it, the nearest first, each with every name under which it can be seen.
    func views(of path: String) -> [[String]] {
        var views: [[String]] = []
        var path = path
        while let mount = mount(of: path), let rest = path.pathRest(after: mount.mountpoint) {
            var inner = Self.join(mount.root, rest)
            while true {
                views.append(names(of: inner, on: mount.device))
                // Some file systems show a root that is no path.
                guard inner != "/", inner.utf8.first == UInt8(ascii: "/") else { break }
                inner = inner.parentPath
            }
            guard mount.mountpoint != "/" else { return views }
            path = mount.mountpoint.parentPath
        }
        // The table of mounts does not have the path.
        while true {
            views.append([path])
            guard path != "/" else { return views }
            path = path.parentPath
        }
    }

    /// Returns the names under which a directory of a file system can be seen.
    private func names(of inner: String, on device: String) -> [String] {
        mounts.compactMap { mount in
            guard mount.device == device, let rest = inner.pathRest(after: mount.root) else { return nil }
            let name = Self.join(mount.mountpoint, rest)
            return self.mount(of: name) == mount ? name : nil
        }
    }

    /// Returns the mount visible at the path: the newest one at the path or above it.
    private func mount(of path: String) -> MountEntry? {
        mounts.last { path.pathRest(after: $0.mountpoint) != nil }
    }

    private static func join(_ directory: String, _ rest: String) -> String {
        rest.isEmpty ? directory : directory == "/" ? rest : directory + rest
    }
}
