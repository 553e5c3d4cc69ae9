import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

extension FileClock {
    /// Turns the times that the store has into those that an app sees.
    func showTimes(_ status: inout FileStatus, _ birth: inout Instant?, of node: Node) {
        let set = node.io?.setTimes ?? SetTimes()
        status.st_atim = timespec(shown(FileTime(status.st_atim), .access, of: set))
        status.st_mtim = timespec(shown(FileTime(status.st_mtim), .modification, of: set))
        status.st_ctim = timespec(shown(FileTime(status.st_ctim)))
        birth = birth.map { birth in
            let shown = shown(FileTime(birth))
            return Instant(seconds: shown.seconds, nanoseconds: shown.nanoseconds)
        }
    }
}

// The one conversion between times of the kernel and of the model.
extension FileTime {
    init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }
}

extension timespec {
    init(_ time: FileTime) { self.init(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds)) }
}
