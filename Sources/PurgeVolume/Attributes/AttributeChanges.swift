import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// The changes that setattr asks for. A value that is nil stays unchanged.
public struct AttributeChange: Sendable {
    public var mode: mode_t?
    public var owner: uid_t?
    public var group: gid_t?
    public var size: Int64?
    public var accessTime: timespec?
    public var modificationTime: timespec?
    /// Whether a change of size drops set-user-ID and set-group-ID, because the caller may not keep them.
    public var dropsPrivileges = false
    public var tid: pid_t
    public var caller: uid_t

    public init(caller: Caller) {
        tid = caller.tid
        self.caller = caller.owner
    }

    var changesOwner: Bool { owner != nil || group != nil }
    var setsTimes: Bool { accessTime != nil || modificationTime != nil }
    var isEmpty: Bool { !changesOwner && mode == nil && size == nil && !setsTimes }
}

/// The calls chmod, chown, truncate and utimens.
struct AttributeChanges: VolumeFamily {
    let core: VolumeCore

    func set(
        of node: Node, handle: Handle?, _ change: AttributeChange, debt: inout AnnouncementDebt
    ) throws(Errno) -> Attributes {
        if node.isControl {
            // Truncating a control file does nothing; its attributes cannot be changed.
            if change.size == nil, !change.isEmpty { throw .notPermitted }
            return control.attributes(of: node)
        }
        // The announcing thread truncates only to notify watchers that a purge has emptied the file, which may have new content
        // now.
        if change.size != nil, purgedNames.isAnnouncer(change.tid) { return try lookups.attributes(of: node) }
        if change.size != nil {
            try protection.admit(handle == nil ? .open : .use, to: node, by: change.tid)
            openFiles.settleCloses(of: node)
        }
        return try access.changing(node) { (location) throws(Errno) in
            try openFiles.apartFromUse(of: node) { () throws(Errno) in
                if let size = change.size { try setSize(of: node, handle, location, size, change, &debt) }
                try apply(change, of: node, at: location)
            }
            if change.setsTimes {
                // The next read must reach the backing file, so that atime is updated as with relatime.
                core.change { $0[node].cacheIsStale = true }
            }
            let status = try location.status()
            return core.read { state in Attributes(of: node, status, mayArriveLate: true, in: state) }
        }
    }

    /// Applies everything except the size.
    private func apply(_ change: AttributeChange, of node: Node, at location: Location) throws(Errno) {
        if change.changesOwner {
            try Privileges.dropGroup(location, tid: change.tid)
            try location.changeOwner(change.owner ?? uid_t.max, change.group ?? gid_t.max)
        } else if change.isEmpty {
            try renewOwner(location, change)
        }
        if let mode = change.mode {
            try core.permissions.withLock { (_) throws(Errno) in try location.changeMode(mode & 0o7777) }
        }
        if change.setsTimes { try setTimes(of: node, change, at: location) }
    }

    /// Clears set-user-ID and set-group-ID for an empty change by root or the owner, as any chown(2) does. A chown(2) to -1, -1
    /// arrives as an empty change. The kernel also sends one before a fallocate(2) by a caller that may not keep the bits. For
    /// other callers, this does nothing.
    private func renewOwner(_ location: Location, _ change: AttributeChange) throws(Errno) {
        let owner = try location.status().st_uid
        guard change.caller == 0 || change.caller == owner else { return }
        try Privileges.dropGroup(location, tid: change.tid)
        try location.changeOwner(uid_t.max, gid_t.max)
    }

    private func setSize(
        of node: Node, _ handle: Handle?, _ location: Location, _ size: Int64, _ change: AttributeChange,
        _ debt: inout AnnouncementDebt
    ) throws(Errno) {
        guard node.isRegular else { throw node.isDirectory ? .isDirectory : .invalid }
        if let handle, handle.canWrite {
            try fileSpace.truncate(node, handle.descriptor, to: size, tid: change.tid, debt: &debt)
            if change.dropsPrivileges { try Privileges.drop(from: handle.descriptor, tid: change.tid) }
            return
        }
        let file = try location.openForWriting()
        try fileSpace.truncate(node, file.raw, to: size, tid: change.tid, debt: &debt)
        if change.dropsPrivileges { try Privileges.drop(from: file.raw, tid: change.tid) }
    }
}

extension Location {
    func openForWriting() throws(Errno) -> FileDescriptor {
        switch self {
        case .entry(let directory, let name):
            try name.withCName { (name) throws(Errno) in try directory.openFile(name, O_WRONLY) }
        case .itself: throw .isDirectory
        case .known: throw .stale
        case .open(let handle):
            try FileDescriptor.open("/proc/self/fd/\(handle.descriptor)", O_WRONLY)
        }
    }

    func changeMode(_ mode: mode_t) throws(Errno) {
        switch self {
        case .entry(let directory, let name):
            try name.withCName { (name) throws(Errno) in try System.changeMode(at: directory.raw, name, mode) }
        case .itself(let descriptor): try System.changeMode(descriptor.raw, mode)
        case .open(let handle): try System.changeMode(handle.descriptor, mode)
        case .known: throw .stale
        }
    }

    func changeOwner(_ owner: uid_t, _ group: gid_t) throws(Errno) {
        try with { (directory, name) throws(Errno) in
            if let name {
                try System.changeOwner(at: directory, name, owner, group)
            } else {
                try System.changeOwner(directory, owner, group)
            }
        }
    }

    func setTimes(_ access: timespec, _ modification: timespec) throws(Errno) {
        try with { (directory, name) throws(Errno) in
            if let name {
                try System.setTimes(at: directory, name, access: access, modification: modification)
            } else {
                try System.setTimes(directory, access: access, modification: modification)
            }
        }
    }
}
