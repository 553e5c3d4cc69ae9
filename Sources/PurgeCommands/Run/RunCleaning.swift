import PurgeSystem
import Synchronization

/// Removes what earlier runs have left in a directory for temporary files, and in the places of mount points, beside a run
/// that goes on: there may be thousands of other files in the directory, and what is there to remove may be large.
final class RunCleaning: Sendable {
    private let directory: String
    private let mounts: [String]
    private let thread = Mutex<WorkThread?>(nil)

    init(_ directory: String, mounts: [String]) { (self.directory, self.mounts) = (directory, mounts) }

    func begin() {
        do throws(Errno) {
            let cleaning = try WorkThread(name: "cleaning") { [self] in clean() }
            thread.withLock { $0 = cleaning }
        } catch { clean() }
    }

    private func clean() {
        RunArea.removeAbandoned(in: directory)
        for place in mounts { RunArea.removeAbandonedMounts(in: place) }
    }

    func join() { thread.withLock { $0 }?.join() }
}
