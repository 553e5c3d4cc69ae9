import Glibc
import PurgeModel
import PurgeSystem

extension Store {
    /// How long `momentBetweenStamps` waits for the next stamp, in nanoseconds. Some file systems give one a second.
    private static let stampPatience: Int64 = 3_000_000_000

    /// A moment of real time that is later than every stamp that the store's file system has given to a file so far, and
    /// not later than any that it will give. Stamps come from a clock that stands still for some milliseconds, so two
    /// files that were written one after the other can have the same; this waits for its next step. EIO if there is
    /// none, because the machine's clock was set back.
    public func momentBetweenStamps() throws(Errno) -> FileTime {
        let began = FileTime(Instant(nanoseconds: System.now()))
        let last = try newStamp()
        let deadline = System.uptime() + Self.stampPatience
        while true {
            let stamp = try newStamp()
            // An app may just have set a time by the finer clock that it reads itself.
            if stamp > last, stamp > began { return stamp }
            if System.uptime() > deadline {
                if stamp > last { return stamp }
                throw .ioError
            }
            usleep(500)
        }
    }

    /// What a file would get that is changed now: the store's own directory is.
    private func newStamp() throws(Errno) -> FileTime {
        try System.setTimes(
            directory.raw, access: timespec(tv_sec: 0, tv_nsec: System.timeNow),
            modification: timespec(tv_sec: 0, tv_nsec: System.timeOmit))
        let changed = try System.status(directory.raw).st_ctim
        return FileTime(seconds: Int64(changed.tv_sec), nanoseconds: Int64(changed.tv_nsec))
    }
}
