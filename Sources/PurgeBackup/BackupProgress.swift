import PurgeStore
import PurgeSystem

/// The progress of a backup, restoration or copy. Once a termination signal is pending, `note`, `noteEntry` and `step` throw
/// `interrupted`.
package final class BackupProgress {
    private(set) var entries: Int64 = 0
    private(set) var bytes: Int64 = 0
    private var inEntry: Int64 = 0
    private let path: String
    private let show: (BackupProgress) -> Void
    private var calls = 0

    /// Creates the progress at zero. `show` is called on every 16th step, and must itself limit how often it displays anything.
    init(path: String, show: @escaping (BackupProgress) -> Void) { (self.path, self.show) = (path, show) }

    /// Notes how many bytes of the current entry are done in total.
    func note(bytes now: Int64) throws(StoreError) {
        bytes += now - inEntry
        inEntry = now
        try step()
    }

    func noteEntry() throws(StoreError) {
        entries += 1
        inEntry = 0
        try step()
    }

    func begin() { (entries, bytes, inEntry) = (0, 0, 0) }

    func step() throws(StoreError) {
        calls += 1
        guard System.endSignal() == nil else { throw .interrupted(path) }
        if calls % 16 == 0 { show(self) }
    }
}
