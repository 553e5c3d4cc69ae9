import PurgeSystem

/// What COMMAND has mounted over its container, or over a directory of the run above it. It hides the container from all that
/// is to be done at the end of a run, and would stay behind. Mounts in the container hide nothing, and go with it.
struct RunCover {
    let area: RunArea
    let mountpoint: String
    let console: Console

    /// The oldest first.
    private var mounts: [MountEntry] {
        let all = MountEntry.all()
        // If the container has been unmounted, everything that is there is of others.
        let container = all.firstIndex { $0.isContainer && $0.mountpoint.isPath(mountpoint) }
        return all.dropFirst(container.map { $0 + 1 } ?? 0).filter { mount in
            let place = mount.mountpoint
            return mountpoint.pathRest(after: place) != nil && place.pathRest(after: area.mountRoot) != nil
        }
    }

    var exists: Bool { !mounts.isEmpty }

    func takeAway() -> [CommandFailure] {
        let found = mounts
        console.warn(
            "run: COMMAND has mounted something over the place of the container; it is unmounted"
                + found.map { "\n  a mount of type \($0.type) at \(VisibleText.of($0.mountpoint))" }.joined())
        for mount in found.reversed() { _ = Unmounting(mountpoint: mount.mountpoint).attempt(detaching: true) }
        return mounts.suffix(1).map { left in
            CommandFailure(
                "cannot unmount", path: left.mountpoint, "a mount of type \(left.type) lies over the container",
                advice: "By hand: umount -l \(left.mountpoint), and then fusermount3 -u -z \(mountpoint)")
        }
    }
}
