/// How the descriptors that the process may have are shared out, so that a program which opens all
/// the files it can takes none that a call by name needs.
public struct DescriptorBudget: Sendable {
    /// Threads that serve requests.
    public let workers: Int
    /// Open files and directories of the app, with the directories that are kept open.
    let shared: Int
    /// Directories kept open when nothing else is.
    let directories: Int

    /// Left to the directories when the app has everything else.
    static let leastDirectories = 8
    /// The session, the journal, the store, standard streams, and what is saved now and then.
    private static let fixed = 32
    /// Of a worker: the pipe that it splices through, and what it opens for one request.
    private static let perWorker = 4

    /// - Parameter limit: RLIMIT_NOFILE.
    public init(limit: Int) {
        workers = min(48, max(4, limit / 16))
        shared = max(2 * Self.leastDirectories, limit - Self.fixed - workers * Self.perWorker)
        directories = max(Self.leastDirectories, min(1024, limit / 4))
    }

    /// What the app may have open.
    var files: Int { shared - Self.leastDirectories }
    /// How much of that may be for what has been removed while somebody had it.
    var removed: Int { files / 4 }
    /// Directories that may be kept open beside so many files.
    func directories(beside files: Int) -> Int { min(directories, max(Self.leastDirectories, shared - files)) }
}
