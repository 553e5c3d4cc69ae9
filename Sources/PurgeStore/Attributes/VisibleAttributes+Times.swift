import Glibc
import PurgeModel
import PurgeSystem

extension VisibleAttributes {
    /// Sets the times of an entry in a store whose device's clock was never advanced, as utimensat(2) through a mount would.
    /// Times in the future are also recorded in an attribute, so that they age with the next advance like all others. If the
    /// attribute does not fit, or a link or special file cannot have it, the times are set without it (docs/CLOCK.md, Limits).
    /// The caller needs permission to write to the entry, not only to change its times.
    public static func setTimes(
        of directory: Int32, _ name: CName?, access: timespec, modification: timespec
    ) throws(Errno) {
        try apply(access, modification, to: directory, name)
        let now = FileTime(Instant(nanoseconds: System.now()))
        guard FileTime(access) > now || FileTime(modification) > now else { return }
        // Records the times as the file system has rounded them.
        let status = try status(directory, name)
        var set = SetTimes()
        if FileTime(access) > now { set.set(FileTime(status.st_atim), .access, clock: 0) }
        if FileTime(modification) > now { set.set(FileTime(status.st_mtim), .modification, clock: 0) }
        try remember(set, status, directory, name)
    }

    private static func apply(
        _ access: timespec, _ modification: timespec, to directory: Int32, _ name: CName?
    ) throws(Errno) {
        if let name {
            try System.setTimes(at: directory, name, access: access, modification: modification)
        } else {
            try System.setTimes(directory, access: access, modification: modification)
        }
    }

    private static func status(_ directory: Int32, _ name: CName?) throws(Errno) -> FileStatus {
        if let name { try System.status(at: directory, name) } else { try System.status(directory) }
    }

    private static func remember(
        _ set: SetTimes, _ status: FileStatus, _ directory: Int32, _ name: CName?
    ) throws(Errno) {
        let isLink = ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
        do throws(Errno) {
            let key = isLink ? SetTimes.linkKey : SetTimes.key
            try System.setAttribute(at: directory, name, key, Array(set.text.utf8))
        } catch {
            guard error.meansNoRoomForAttribute || (isLink && (error == .notPermitted || error == .notSupported)) else {
                throw error
            }
        }
    }
}
