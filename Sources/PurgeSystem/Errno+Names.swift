import Glibc

extension Errno {
    /// The whole system, here the file system, has no descriptor left.
    public static let tooManyFiles = Errno(ENFILE)
    /// The daemon behind a FUSE mount has ended.
    public static let notConnected = Errno(ENOTCONN)
    public static let timedOut = Errno(ETIMEDOUT)
    public static let noProcess = Errno(ESRCH)
    /// The mount was cut off from its daemon.
    public static let connectionAborted = Errno(ECONNABORTED)
    /// Neither a binary for this machine nor a script with an interpreter.
    public static let noExecutable = Errno(ENOEXEC)
    public static let noChild = Errno(ECHILD)
    /// A path is not UTF-8.
    public static let illegalSequence = Errno(EILSEQ)
}
