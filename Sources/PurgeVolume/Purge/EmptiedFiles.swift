import Glibc
import PurgeTree

/// Files that purges have emptied, as long as the kernel has not been told about it. Until then it may remember how long a file
/// was, and would append behind that.
struct EmptiedFiles: Sendable {
    private struct File {
        var announcements = 0
        /// The threads that have been sent to look it up again, and have not done so yet.
        var sent: Set<pid_t> = []
        /// The threads that have looked it up since it was last emptied.
        var informed: Set<pid_t> = []
    }
    private var files: [ObjectIdentifier: File] = [:]

    var isEmpty: Bool { files.isEmpty }

    /// The file has been emptied. `removeAnnounced` follows, and the node exists until then. A thread that is about to look it up
    /// finds the new size: it must not be sent a second time, since the kernel tries a call only twice.
    mutating func add(_ node: Node) {
        files[ObjectIdentifier(node), default: File()].announcements += 1
        files[ObjectIdentifier(node)]?.informed = []
    }

    mutating func removeAnnounced(_ node: Node) {
        guard var file = files.removeValue(forKey: ObjectIdentifier(node)), file.announcements > 1 else { return }
        file.announcements -= 1
        files[ObjectIdentifier(node)] = file
    }

    /// Whether a thread that opens the file must look up its name first, which gives the kernel its size: once for each thread,
    /// since one that opens it by a descriptor looks up nothing.
    mutating func mustLookUp(_ node: Node, by tid: pid_t) -> Bool {
        guard !isEmpty, files[ObjectIdentifier(node)]?.informed.contains(tid) == false else { return false }
        return files[ObjectIdentifier(node)]?.sent.insert(tid).inserted ?? false
    }

    /// A thread looks the file up. Threads of other PID namespaces, which are all 0, are not told apart.
    mutating func noteLookup(_ node: Node, by tid: pid_t) {
        guard !isEmpty, tid != 0, files[ObjectIdentifier(node)] != nil else { return }
        files[ObjectIdentifier(node)]?.sent.remove(tid)
        files[ObjectIdentifier(node)]?.informed.insert(tid)
    }
}
