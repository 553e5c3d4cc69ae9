import Glibc
import PurgeSystem

/// Clearing set-user-ID and set-group-ID when a caller that may not keep them changes a file, by the rules of the kernel's
/// setattr_should_drop_suidgid(). With FUSE_HANDLE_KILLPRIV_V2 this is the daemon's task. The kernel marks the requests that
/// require it, except for fallocate, copy_file_range and chown.
enum Privileges {
    /// Clears both bits on an open file, after the kernel has said that the caller may not keep them. Set-group-ID without
    /// group execute permission stays if the caller has CAP_FSETID or is in the file's group.
    static func drop(from descriptor: Int32, tid: pid_t) throws(Errno) {
        let status = try System.status(descriptor)
        guard status.hasPrivileges else { return }
        try drop(from: descriptor, status, by: CallerCredentials(of: tid))
    }

    /// Does the same as `drop` for fallocate and copy_file_range, but only if the caller lacks CAP_FSETID: the kernel does not
    /// say whether the caller may keep the bits.
    static func dropUnlessCapable(from descriptor: Int32, tid: pid_t) throws(Errno) {
        let status = try System.status(descriptor)
        guard status.hasPrivileges else { return }
        let caller = CallerCredentials(of: tid)
        if !caller.keepsPrivileges { try drop(from: descriptor, status, by: caller) }
    }

    private static func drop(
        from descriptor: Int32, _ status: FileStatus, by caller: CallerCredentials
    ) throws(Errno) {
        var kept = status.st_mode & ~S_ISUID
        if status.st_mode & S_IXGRP != 0 || !caller.mayKeepGroupPrivilege(of: status) { kept &= ~S_ISGID }
        if kept != status.st_mode { try System.changeMode(descriptor, kept & 0o7777) }
    }

    /// Clears set-group-ID for chown(2) of a file without group execute permission, unless the caller may keep it. The backing
    /// file system's own chown clears the rest.
    static func dropGroup(_ location: Location, tid: pid_t) throws(Errno) {
        let status = try location.status()
        guard status.isRegularFile, status.st_mode & S_IXGRP == 0 else { return }
        try dropGroup(location, status, tid: tid)
    }

    /// Clears set-group-ID when an access control list is set, on a directory too, unless the caller may keep it. This is the
    /// rule of chmod(2).
    static func dropGroupWithList(_ location: Location, tid: pid_t) throws(Errno) {
        try dropGroup(location, location.status(), tid: tid)
    }

    private static func dropGroup(_ location: Location, _ status: FileStatus, tid: pid_t) throws(Errno) {
        guard status.st_mode & S_ISGID != 0, !CallerCredentials(of: tid).mayKeepGroupPrivilege(of: status)
        else { return }
        try location.changeMode(status.st_mode & 0o7777 & ~S_ISGID)
    }
}

extension FileStatus {
    fileprivate var hasPrivileges: Bool { isRegularFile && st_mode & (S_ISUID | S_ISGID) != 0 }
}
