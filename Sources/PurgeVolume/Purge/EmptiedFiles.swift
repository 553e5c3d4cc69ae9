import Glibc
import PurgeTree

/// Files that purges have emptied, as long as the kernel has not been told about it. Until then it may remember how long a file
/// was, and would append behind that.
struct EmptiedFiles: Sendable {
    private struct File {
        var announcements = 0
        /// The threads that have been sent to look it up again.
        var sent: Set<pid_t> = []
    }
    private var files: [ObjectIdentifier: File] = [:]

    var isEmpty: Bool { files.isEmpty }

    /// The file has been emptied. `removeAnnounced` follows, and the node exists until then.
    mutating func add(_ node: Node) {
        let announcements = (files[ObjectIdentifier(node)]?.announcements ?? 0) + 1
        files[ObjectIdentifier(node)] = File(announcements: announcements)
    }

    mutating func removeAnnounced(_ node: Node) {
        guard var file = files.removeValue(forKey: ObjectIdentifier(node)), file.announcements > 1 else { return }
        file.announcements -= 1
        files[ObjectIdentifier(node)] = file
    }

    /// Whether a thread that opens the file must look up its name first, which gives the kernel its size: once for each thread,
    /// since one that opens it by a descriptor looks up nothing.
    mutating func mustLookUp(_ node: Node, by tid: pid_t) -> Bool {
        guard !isEmpty else { return false }
        return files[ObjectIdentifier(node)]?.sent.insert(tid).inserted ?? false
    }
}
