import PurgeModel

/// Why a file was not purged, in words.
package enum RefusalText {
    package static func reason(_ cause: PurgeRefusal, users: [FileUser], leavesTombstone: Bool) -> String {
        switch cause {
        case .noEntry: "no such file or folder"
        case .special: "it is a device, a pipe or a socket; only files and links are purged"
        case .notPurgeable: "it is neither in tmp nor in Library/Caches, and is not marked purgeable"
        case .severalNames: "it is hard-linked, so purging it would free nothing"
        case .linkedOutside: "it is hard-linked from outside the container, so purging it would free nothing"
        case .empty: "it takes no space, so purging it would free nothing"
        case .open: users.isEmpty ? "it is open" : "it is in use by \(list(users))"
        case .busy: "other calls kept changing it"
        case .failed where leavesTombstone: "it could not be emptied in the store"
        case .failed: "it could not be removed from the store"
        }
    }

    package static func advice(_ cause: PurgeRefusal, users: [FileUser], isRoot: Bool) -> String {
        switch cause {
        case .noEntry: "Check the path."
        case .special: "Leave out devices, pipes and sockets."
        case .notPurgeable: "`purgefs mark --purgeable PATH` makes it purgeable."
        case .severalNames: "Remove its other names first: `find CONTAINER -samefile PATH` lists them."
        case .linkedOutside: "Remove that name first: `find DIR -samefile PATH` around the store lists it."
        case .empty: "Name the file itself, or purge its whole tier with --tier."
        case .open where users.isEmpty:
            isRoot
                ? "The process that had it open has ended, or cannot be seen from here: try again."
                : "Run this as root to see which process has it open, or try again when it is closed."
        case .open: "Close it first, or purge it in use with `purgefs purge --even-open`."
        case .busy: "Try again."
        case .failed: "Look in the daemon's log, or unmount the container and run `purgefs check STORE`."
        }
    }

    private static func list(_ users: [FileUser]) -> String {
        let shown = users.prefix(3).map(\.name)
        let more = users.count - shown.count
        return (shown + (more > 0 ? ["\(more) more"] : [])).joined(separator: ", ")
    }
}
