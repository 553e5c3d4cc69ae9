import Glibc
import PurgeTree

/// Files that purges have emptied, kept until the kernel has been told. Until then the kernel may remember a file's old length,
/// and would append at that offset.
struct EmptiedFiles: Sendable {
    private struct File {
        var announcements = 0
        /// The threads that have been sent to look up the file again and have not done so yet.
        var sent: Set<pid_t> = []
        /// The threads that have looked up the file since it was last emptied.
        var informed: Set<pid_t> = []
    }
    private var files: [ObjectIdentifier: File] = [:]

    var isEmpty: Bool { files.isEmpty }

    /// Adds a file that has been emptied. The node stays alive until `removeAnnounced`, which always follows. A thread that has
    /// been sent and is about to look up the file will find the new size. It must not be sent a second time, because the kernel
    /// tries a call only twice.
    mutating func add(_ node: Node) {
        files[ObjectIdentifier(node), default: File()].announcements += 1
        files[ObjectIdentifier(node)]?.informed = []
    }

    mutating func removeAnnounced(_ node: Node) {
        guard var file = files.removeValue(forKey: ObjectIdentifier(node)), file.announcements > 1 else { return }
        file.announcements -= 1
        files[ObjectIdentifier(node)] = file
    }

    /// Returns whether a thread that opens the file must look up its name first, so that the kernel learns the new size. Each
    /// thread is sent only once, because a thread that opens the file by a descriptor looks up nothing.
    mutating func mustLookUp(_ node: Node, by tid: pid_t) -> Bool {
        guard !isEmpty, files[ObjectIdentifier(node)]?.informed.contains(tid) == false else { return false }
        return files[ObjectIdentifier(node)]?.sent.insert(tid).inserted ?? false
    }

    /// Notes that a thread looks up the file. Threads of other PID namespaces all have the number 0 and cannot be told apart.
    mutating func noteLookup(_ node: Node, by tid: pid_t) {
        guard !isEmpty, tid != 0, files[ObjectIdentifier(node)] != nil else { return }
        files[ObjectIdentifier(node)]?.sent.remove(tid)
        files[ObjectIdentifier(node)]?.informed.insert(tid)
    }
}
