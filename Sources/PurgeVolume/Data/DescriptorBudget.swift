/// How the process's descriptors are divided, so that a program that opens as many files as it can leaves enough descriptors
/// for calls by name.
public struct DescriptorBudget: Sendable {
    /// How many threads serve requests.
    public let workers: Int
    /// Descriptors for the app's open files and directories, together with the directories that are kept open.
    let shared: Int
    /// Descriptors for directories that are kept open, if nothing else is open.
    let directories: Int

    /// Descriptors left for directories when the app uses everything else.
    static let leastDirectories = 8
    /// Descriptors for the session, the journal, the store, the standard streams, and files that are saved from time to time.
    private static let fixed = 32
    /// Descriptors for each worker: the pipe through which it splices, and the files that it opens for one request.
    private static let perWorker = 4

    /// - Parameter limit: RLIMIT_NOFILE.
    public init(limit: Int) {
        workers = min(48, max(4, limit / 16))
        shared = max(2 * Self.leastDirectories, limit - Self.fixed - workers * Self.perWorker)
        directories = max(Self.leastDirectories, min(1024, limit / 4))
    }

    /// How many files and directories the app may have open.
    var files: Int { shared - Self.leastDirectories }
    /// How many of `files` may belong to entries that were removed while they were in use.
    var removed: Int { files / 4 }
    /// Returns how many directories may be kept open beside `files` files and directories of the app.
    func directories(beside files: Int) -> Int { min(directories, max(Self.leastDirectories, shared - files)) }
}
