import Glibc
import PurgeModel
import PurgeSystem

extension Store {
    /// The maximum time in nanoseconds that `momentBetweenStamps` waits for the next stamp. Some file systems have only one
    /// stamp a second.
    private static let stampPatience: Int64 = 3_000_000_000

    /// Returns a moment of real time later than every stamp that the store's file system has given so far, and not later than
    /// any future one. Stamps come from a clock that stands still for some milliseconds, so two files written one after the
    /// other can have the same stamp. So this waits for the clock's next step. Throws EIO if the clock does not advance in
    /// time, for example because the machine's clock was set back.
    public func momentBetweenStamps() throws(Errno) -> FileTime {
        let began = FileTime(Instant(nanoseconds: System.now()))
        let last = try newStamp()
        let deadline = System.uptime() + Self.stampPatience
        while true {
            let stamp = try newStamp()
            // An app may have just set a time from the finer clock that it reads itself.
            if stamp > last, stamp > began { return stamp }
            if System.uptime() > deadline {
                if stamp > last { return stamp }
                throw .ioError
            }
            usleep(500)
        }
    }

    /// Changes the store's own directory, and returns the stamp that the file system gave to the change.
    private func newStamp() throws(Errno) -> FileTime {
        try System.setTimes(
            directory.raw, access: timespec(tv_sec: 0, tv_nsec: System.timeNow),
            modification: timespec(tv_sec: 0, tv_nsec: System.timeOmit))
        let changed = try System.status(directory.raw).st_ctim
        return FileTime(seconds: Int64(changed.tv_sec), nanoseconds: Int64(changed.tv_nsec))
    }
}
