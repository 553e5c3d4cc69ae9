/// A file that came before others in the order of a purge but was skipped (docs/CONTROL.md, events).
public struct PassedOver: Codable, Hashable, Sendable {
    /// The path, in the form of `Event.path`.
    public var path: String
    public var reason: PurgeRefusal
    /// A process that has the file open, if one is known.
    public var pid: Int32?
    public var process: String?

    public init(path: String, reason: PurgeRefusal, pid: Int32? = nil, process: String? = nil) {
        self.path = path
        self.reason = reason
        self.pid = pid
        self.process = process
    }
}
