import PurgeSystem
import Synchronization

/// Removes leftovers of earlier runs from a directory for temporary files and from the places of mount points. It does so
/// during the run, because the directory may have thousands of other files, and the leftovers may be large.
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
