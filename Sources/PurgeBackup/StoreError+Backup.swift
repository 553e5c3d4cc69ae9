import Glibc
import PurgeStore
import PurgeSystem

extension StoreError {
    /// Returns the error for a missing libarchive. `reason` is the message of the dynamic linker.
    static func withoutArchives(_ what: String, _ path: String, _ reason: UnsafePointer<CChar>) -> StoreError {
        StoreError(
            "\(what): libarchive cannot be loaded", path: path,
            advice: "\(String(cString: reason)). On Debian and Ubuntu, install libarchive13 (or libarchive13t64).")
    }

    /// Returns the error for a failed system call on a backup, or on a restored directory that is not a store yet.
    static func ofBackup(_ what: String, path: String, _ error: Errno) -> StoreError {
        var failure = StoreError.failed(what, path: path, error)
        switch error {
        case .noSpace, Errno(EDQUOT):
            failure.advice = "The disk is full: make room there, or name a place on another disk."
        case .readOnly: failure.advice = "Name a place on a file system that is mounted read-write."
        case .ioError: failure.advice = "The disk reports errors: check it (dmesg), and name a place on another one."
        case .accessDenied, .notPermitted: failure.advice = "Name a place where you may read and write."
        case Errno(EPIPE): failure.advice = "The program that reads it has ended."
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .nameTooLong, Errno(ELOOP), .notDirectory, .noEntry: break
        default: failure.advice = "Check the file system, or name a place on another one."
        }
        return failure
    }
}
