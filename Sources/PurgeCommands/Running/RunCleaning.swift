import PurgeSystem
import Synchronization

/// Removes what earlier runs have left in a directory for temporary files, beside a run that goes on: there may be
/// thousands of other files in the directory, and what is there to remove may be large.
final class RunCleaning: Sendable {
    private let directory: String
    private let thread = Mutex<WorkThread?>(nil)

    init(_ directory: String) { self.directory = directory }

    func begin() {
        do throws(Errno) {
            let cleaning = try WorkThread(name: "cleaning") { [directory] in RunArea.removeAbandoned(in: directory) }
            thread.withLock { $0 = cleaning }
        } catch { RunArea.removeAbandoned(in: directory) }
    }

    func join() { thread.withLock { $0 }?.join() }
}
