import Glibc

/// An errno value, as the kernel returned it or as a caller will see it.
public struct Errno: Error, Equatable, Sendable, CustomStringConvertible {
    public let code: Int32
    /// Whether the error comes from the simulated device, and not from the kernel.
    private let isOfDevice: Bool

    public init(_ code: Int32) { self.init(code, isOfDevice: false) }
    private init(_ code: Int32, isOfDevice: Bool) {
        self.code = code
        self.isOfDevice = isOfDevice
    }
    public static func == (a: Errno, b: Errno) -> Bool { a.code == b.code }

    /// The simulated device has no room.
    public static let deviceFull = Errno(ENOSPC, isOfDevice: true)
    /// The value that an app sees. ENOSPC always means the simulated device. If the disk under the store is full, or a quota
    /// there is reached, the app sees EIO.
    public var answer: Int32 { (code == ENOSPC || code == EDQUOT) && !isOfDevice ? EIO : code }

    public static let notPermitted = Errno(EPERM)
    public static let noEntry = Errno(ENOENT)
    public static let ioError = Errno(EIO)
    public static let badFileDescriptor = Errno(EBADF)
    public static let tryAgain = Errno(EAGAIN)
    public static let accessDenied = Errno(EACCES)
    public static let busy = Errno(EBUSY)
    public static let exists = Errno(EEXIST)
    public static let notDirectory = Errno(ENOTDIR)
    public static let isDirectory = Errno(EISDIR)
    public static let invalid = Errno(EINVAL)
    public static let noSpace = Errno(ENOSPC)
    public static let fileTooLarge = Errno(EFBIG)
    public static let range = Errno(ERANGE)
    public static let noData = Errno(ENODATA)
    public static let notSupported = Errno(EOPNOTSUPP)
    public static let stale = Errno(ESTALE)
    public static let readOnly = Errno(EROFS)
    public static let interrupted = Errno(EINTR)
    public static let noSuchProcess = Errno(ESRCH)
    public static let noDevice = Errno(ENODEV)
    public static let noSuchAddressOrDevice = Errno(ENXIO)
    public static let argListTooLong = Errno(E2BIG)
    public static let notEmpty = Errno(ENOTEMPTY)
    public static let nameTooLong = Errno(ENAMETOOLONG)
    public static let tooManyOpenFiles = Errno(EMFILE)

    /// The text of strerror(3), except for a path that is not UTF-8.
    public var description: String {
        code == EILSEQ ? "the path is not UTF-8" : String(cString: strerror(code))
    }
}
