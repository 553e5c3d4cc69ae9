import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

extension FileClock {
    /// Converts stored times into the times that an app sees. `set` holds the times that an app has set for the entry.
    func showTimes(_ status: inout FileStatus, _ birth: inout Instant?, _ set: SetTimes) {
        status.st_atim = shown(FileTime(status.st_atim), .access, of: set).timespec
        status.st_mtim = shown(FileTime(status.st_mtim), .modification, of: set).timespec
        status.st_ctim = shown(FileTime(status.st_ctim)).timespec
        birth = birth.map { birth in
            let shown = shown(FileTime(birth))
            return Instant(seconds: shown.seconds, nanoseconds: shown.nanoseconds)
        }
    }
}
