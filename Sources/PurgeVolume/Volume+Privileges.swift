import Glibc
import PurgeSystem

// Set-user-ID and set-group-ID go with a change by who may not keep them, by the rules of the
// kernel's setattr_should_drop_suidgid(). With FUSE_HANDLE_KILLPRIV_V2 that is the daemon's work;
// the kernel says in a request that it is due, but not for fallocate, copy_file_range and chown.
extension Volume {
    /// open(2) with O_TRUNC by a caller that may not keep them.
    public func dropPrivileges(_ handle: Handle, pid: pid_t) throws(Errno) {
        try dropPrivileges(handle.descriptor, pid: pid)
    }

    /// Takes both from an open file, if the caller may not keep them.
    func dropPrivileges(_ descriptor: Int32, pid: pid_t) throws(Errno) {
        let status = try System.status(descriptor)
        guard let mode = status.modeAfterChange(by: pid) else { return }
        try System.changeMode(descriptor, mode)
    }

    /// chown(2) of a file by a caller outside its group: the backing's own chown takes the rest.
    func dropGroupPrivilege(_ location: Location, pid: pid_t) throws(Errno) {
        let status = try location.status()
        guard status.isRegular, status.st_mode & (S_ISGID | S_IXGRP) == S_ISGID,
            let mode = status.modeAfterChange(by: pid)
        else { return }
        try location.changeMode(mode)
    }
}

extension FileStatus {
    /// nil where nothing goes.
    fileprivate func modeAfterChange(by pid: pid_t) -> mode_t? {
        guard isRegular, st_mode & (S_ISUID | S_ISGID) != 0 else { return nil }
        let caller = CallerCredentials(of: pid)
        if caller.keepsPrivileges { return nil }
        var kept = st_mode & ~S_ISUID
        if st_mode & S_IXGRP != 0 || !caller.groups.contains(st_gid) { kept &= ~S_ISGID }
        return kept == st_mode ? nil : kept & 0o7777
    }
}
