import PurgeCommandLine
import PurgeSystem

/// What COMMAND has mounted over its container, or over a directory of the run above it. It hides the container from all that
/// is to be done at the end of a run, and would stay behind. Mounts in the container hide nothing, and go with it.
struct RunCover {
    let area: RunArea
    let mountpoint: String
    let console: Console

    /// The mounts over the container, the oldest first, and whether that is mounted.
    private func look() -> (covers: [MountEntry], isMounted: Bool) {
        let all = MountEntry.all()
        // If the container has been unmounted, everything that is there is of others.
        let container = all.firstIndex { $0.isContainer && $0.mountpoint.isPath(mountpoint) }
        let covers = all.dropFirst(container.map { $0 + 1 } ?? 0).filter { mount in
            let place = mount.mountpoint
            return mountpoint.pathRest(after: place) != nil && place.pathRest(after: area.mountRoot) != nil
        }
        return (covers, container != nil)
    }

    /// Returns whether the container is mounted, and what could not be taken away.
    func takeAway() -> (isMounted: Bool, failures: [CommandFailure]) {
        let (found, isMounted) = look()
        guard !found.isEmpty else { return (isMounted, []) }
        console.warn(
            "run: COMMAND has mounted something over the place of the container; it is unmounted"
                + found.map { "\n  a mount of type \($0.type) at \(VisibleText.of($0.mountpoint))" }.joined())
        for mount in found.reversed() { _ = Unmounting(mountpoint: mount.mountpoint).attempt(detaching: true) }
        let failures = look().covers.suffix(1).map { left in
            CommandFailure(
                "cannot unmount", path: left.mountpoint, "a mount of type \(left.type) lies over the container",
                advice: "By hand: umount -l \(left.mountpoint), and then fusermount3 -u -z \(mountpoint)")
        }
        return (isMounted, failures)
    }
}
