/// A file that a purge skipped although its turn had come (docs/CONTROL.md, events).
public struct PassedOver: Codable, Hashable, Sendable {
    /// The path, in the form of `Event.path`.
    public var path: String
    public var reason: PurgeRefusal
    /// The process that opened the file last, if the file is open and that process still runs.
    public var pid: Int32?
    public var process: String?

    public init(path: String, reason: PurgeRefusal, pid: Int32? = nil, process: String? = nil) {
        self.path = path
        self.reason = reason
        self.pid = pid
        self.process = process
    }
}
