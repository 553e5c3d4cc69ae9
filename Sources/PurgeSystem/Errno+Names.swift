import Glibc

extension Errno {
    /// The daemon behind a FUSE mount has ended.
    public static let notConnected = Errno(ENOTCONN)
    public static let noProcess = Errno(ESRCH)
    public static let noChild = Errno(ECHILD)
}
