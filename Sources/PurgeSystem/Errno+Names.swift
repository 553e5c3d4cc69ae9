import CSystemShims
import Glibc

extension Errno {
    /// The whole system has no descriptor left, or a mount's budget of open files is used up.
    public static let tooManyOpenFilesInSystem = Errno(ENFILE)
    /// The daemon behind a FUSE mount has ended.
    public static let socketNotConnected = Errno(ENOTCONN)
    /// The operation was abandoned before it began.
    public static let canceled = Errno(ECANCELED)
    public static let timedOut = Errno(ETIMEDOUT)
    /// The mount was cut off from its daemon.
    public static let connectionAbort = Errno(ECONNABORTED)
    /// The file is neither a binary for this machine nor a script with an interpreter.
    public static let execFormatError = Errno(ENOEXEC)
    /// A path is not UTF-8.
    public static let illegalByteSequence = Errno(EILSEQ)
}

extension Errno {
    /// The name of the error, such as `ENOSPC`; nil for a number without a name.
    public var name: String? { shim_error_name(code).map { String(cString: $0) } }

    private static var all: some Collection<Errno> { (1...133).lazy.map { Errno($0) } }
    /// The names of all errors.
    public static var names: [String] { all.compactMap(\.name) }

    /// Finds an error by its name; nil if there is none.
    public init?(name: String) {
        guard let error = Self.all.first(where: { $0.name == name }) else { return nil }
        self = error
    }
}
