import PurgeModel

/// Why a file was not purged, in words for a person.
enum RefusalText {
    static func reason(_ cause: PurgeRefusal, users: [FileUser]) -> String {
        switch cause {
        case .noEntry: "no such file or folder"
        case .special: "it is a device, a pipe or a socket; only files and links are purged"
        case .notPurgeable: "it lies neither in tmp nor in Library/Caches, and is not marked purgeable"
        case .severalNames: "it has several names (hard links), so that nothing would come back"
        case .linkedOutside: "it has a name outside of the container, so that nothing would come back"
        case .empty: "it takes no space, so that nothing would come back"
        case .open: users.isEmpty ? "it is open" : "it is in use by \(list(users))"
        case .busy: "something was changing it all the while"
        case .failed: "the store would not let go of it"
        }
    }

    /// What to do next.
    static func advice(_ cause: PurgeRefusal, users: [FileUser], isRoot: Bool) -> String {
        switch cause {
        case .noEntry: "Check the path."
        case .special: "Leave devices, pipes and sockets out."
        case .notPurgeable: "`purgefs mark --purgeable PATH` makes it purgeable."
        case .severalNames: "Remove its other names first: `find CONTAINER -samefile PATH` lists them."
        case .linkedOutside: "Remove that name first: `find DIR -samefile PATH` around the store lists it."
        case .empty: "Name it, or purge all of its place."
        case .open where users.isEmpty:
            isRoot
                ? "Whoever had it has ended, or is not to be seen from here: try again."
                : "Run this as root to see by whom, or try again when it is closed."
        case .open: "What is open is never purged: have it closed first."
        case .busy: "Try again."
        case .failed: "The log of the daemon, and `purgefs check STORE` after an unmount, may tell why."
        }
    }

    private static func list(_ users: [FileUser]) -> String {
        let shown = users.prefix(3).map(\.name)
        let more = users.count - shown.count
        return (shown + (more > 0 ? ["\(more) more"] : [])).joined(separator: ", ")
    }
}
