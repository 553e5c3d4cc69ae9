import PurgeSystem

/// What a path lies in, as the table of mounts has it: a part of a store may be seen at another place too, by a bind
/// mount. Paths are absolute and without symbolic links.
struct Surroundings {
    /// The newest last.
    let mounts: [MountEntry]

    /// The container that it lies in, by a mount of all or a part of it; also one whose mount point it is.
    func container(holding path: String) -> MountEntry? {
        var path = path
        while let mount = mount(of: path) {
            if mount.type == "fuse.purgefs" { return mount }
            guard mount.mountpoint != "/" else { return nil }
            path = mount.mountpoint.parentPath
        }
        return nil
    }

    /// The nearest of the directories that it lies in, and of itself, that is a store.
    func store(holding path: String, isStore: (String) -> Bool = Target.isStore) -> String? {
        views(of: path).joined().first(where: isStore)
    }

    /// The same without itself.
    func store(above path: String, isStore: (String) -> Bool = Target.isStore) -> String? {
        views(of: path).dropFirst().joined().first(where: isStore)
    }

    /// Whether it is `directory`, or lies in it, by whatever name.
    func lies(_ path: String, in directory: String) -> Bool {
        views(of: path).joined().contains { $0.isPath(directory) }
    }

    /// The path and all directories above it, the nearest first, each by every name under which it can be seen.
    func views(of path: String) -> [[String]] {
        var views: [[String]] = []
        var path = path
        while let mount = mount(of: path), let rest = path.pathRest(after: mount.mountpoint) {
            var inner = Self.join(mount.root, rest)
            while true {
                views.append(names(of: inner, on: mount.device))
                // Some file systems have other names than paths for what they show.
                guard inner != "/", inner.utf8.first == UInt8(ascii: "/") else { break }
                inner = inner.parentPath
            }
            guard mount.mountpoint != "/" else { return views }
            path = mount.mountpoint.parentPath
        }
        // Nothing is known of the mounts.
        while true {
            views.append([path])
            guard path != "/" else { return views }
            path = path.parentPath
        }
    }

    /// Where a directory of a file system can be seen.
    private func names(of inner: String, on device: String) -> [String] {
        mounts.compactMap { mount in
            guard mount.device == device, let rest = inner.pathRest(after: mount.root) else { return nil }
            let name = Self.join(mount.mountpoint, rest)
            return self.mount(of: name) == mount ? name : nil
        }
    }

    /// The mount that shows what is at the path: of those above it the newest.
    private func mount(of path: String) -> MountEntry? {
        mounts.last { path.pathRest(after: $0.mountpoint) != nil }
    }

    private static func join(_ directory: String, _ rest: String) -> String {
        rest.isEmpty ? directory : directory == "/" ? rest : directory + rest
    }
}
