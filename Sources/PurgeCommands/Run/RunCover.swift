import PurgeCommandLine
import PurgeSystem

/// The mounts that COMMAND has created over its container, or over a directory of the run above it. They hide the container
/// when the run ends, and would be left behind. Mounts inside the container hide nothing, and disappear with it.
struct RunCover {
    let area: RunArea
    let mountpoint: String
    let console: Console

    /// Returns the mounts over the container, the oldest first, and whether the container is mounted.
    private func look() -> (covers: [MountEntry], isMounted: Bool) {
        let all = MountEntry.all()
        // If the container has been unmounted, every mount found there is a cover.
        let container = all.firstIndex { $0.isContainer && $0.mountpoint.isPath(mountpoint) }
        let covers = all.dropFirst(container.map { $0 + 1 } ?? 0).filter { mount in
            let place = mount.mountpoint
            return mountpoint.pathRest(after: place) != nil && place.pathRest(after: area.mountRoot) != nil
        }
        return (covers, container != nil)
    }

    /// Unmounts the covers. Returns whether the container is mounted, and the failures.
    func takeAway() -> (isMounted: Bool, failures: [CommandFailure]) {
        let (found, isMounted) = look()
        guard !found.isEmpty else { return (isMounted, []) }
        console.warn(
            "run: COMMAND mounted a file system over the container; unmounting it"
                + found.map { "\n  a mount of type \($0.type) at \(VisibleText.of($0.mountpoint))" }.joined())
        for mount in found.reversed() { _ = Unmounting(mountpoint: mount.mountpoint).attempt(detaching: true) }
        let failures = look().covers.suffix(1).map { left in
            CommandFailure(
                "cannot unmount", path: left.mountpoint, "a mount of type \(left.type) lies over the container",
                advice: "By hand: umount -l \(ShellWord.of(left.mountpoint)), and then "
                    + "fusermount3 -u -z \(ShellWord.of(mountpoint))")
        }
        return (isMounted, failures)
    }
}
