#if os(Linux)
import Foundation
import Glibc

/// Creates Foundation's errors, with the codes that iOS uses for the same errno.
enum ItemFailure {
    static func writing(_ errno: Int32, _ path: String) -> CocoaError {
        let code: CocoaError.Code =
            switch errno {
            case ENOENT, ENOTDIR: .fileNoSuchFile
            case EACCES, EPERM: .fileWriteNoPermission
            case EROFS: .fileWriteVolumeReadOnly
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            default: .fileWriteUnknown
            }
        return made(code, errno, path)
    }

    static func reading(_ errno: Int32, _ path: String) -> CocoaError {
        let code: CocoaError.Code =
            switch errno {
            case ENOENT, ENOTDIR: .fileReadNoSuchFile
            case EACCES, EPERM: .fileReadNoPermission
            default: .fileReadUnknown
            }
        return made(code, errno, path)
    }

    private static func made(_ code: CocoaError.Code, _ errno: Int32, _ path: String) -> CocoaError {
        let below = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
        return CocoaError(code, userInfo: [NSFilePathErrorKey: path, NSUnderlyingErrorKey: below])
    }
}
#endif
