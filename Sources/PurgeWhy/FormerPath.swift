import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// An old absolute path of a file, from when its container had another UUID: the path that the user named, or a link's target.
struct FormerPath: Encodable {
    /// The old path as the user or the link spells it.
    var path: String
    /// The UUID in the old path.
    var container: String
    /// The absolute path now, whether or not it exists.
    var place: String
    /// The event with which the container lost that UUID; nil if the journal does not have it.
    var event: Event?

    /// Finds the container that a path with this UUID belongs to: `named`, or else a mounted container that has or had the
    /// UUID, or else the container that a verb without a TARGET works on.
    static func target(of path: ContainerPath, named: String?, _ text: String) throws(CommandFailure) -> Target {
        if let named { return try Target(named) }
        let mounts = MountEntry.containers().reversed().filter { !MountedStore($0).isReplaced }
        if let mount = mounts.first(where: { ContainerLives(store: $0.source).include(path.container) }) {
            return .mount(mount.mountpoint)
        }
        do throws(CommandFailure) { return try Target(nil) } catch {
            throw CommandFailure(
                "cannot say why", path: text, "no container is known to have had this path",
                advice: "Name its container, a mount point or a store: purgefs why PATH TARGET")
        }
    }
}

// Text.
extension FormerPath {
    var sentences: [String] {
        let what = "\(WhyWords.path(path)) leads into the earlier container \(container)."
        let change: String
        switch (event?.type, event?.reason) {
        case (.restore, _): change = "This container was restored \(when) from a backup of that one."
        case (_, AppCommand.delete.rawValue):
            change = "The app was deleted \(when), and its container got another path."
        case (.some, _): change = "The app was updated \(when), and its container got another path."
        case (nil, _): change = "The journal does not say when this container got another path."
        }
        return [what, change, "The same path in this container is \(WhyWords.path(place))."]
    }

    private var when: String { event.map { WhyWords.when($0) + WhyWords.by($0) } ?? "" }

    static let advice =
        "The path of a container changes with an update, a restore and a reinstallation: do not store it. Store paths "
        + "relative to the container, or bookmarks, and resolve them at each start."
}
