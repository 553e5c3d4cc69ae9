import Glibc
import PurgeSystem

/// The identity with which this thread creates files. Setting it costs three system calls, so it changes only when a request
/// comes from a different caller.
private struct ThreadIdentity {
    var owner: uid_t
    var group: gid_t
    var umask: mode_t?
}

private let identity = ThreadLocal { $0?.deallocate() }

extension Volume {
    /// Prepares this thread to serve requests: its capabilities survive changes of its identity, and its umask is private.
    public static func prepareWorkerThread() {
        // If these fail (in an ordinary user's mount), all files belong to the daemon's user anyway.
        do { try System.keepCapabilities() } catch {}
        do { try System.makeUmaskPrivate() } catch {}
        System.setUmask(0)
    }
}

extension VolumeCore {
    /// Makes files that this thread creates from now on belong to the caller. Only root can do that. The caller's umask applies
    /// only if the store keeps access control lists.
    func actAs(_ caller: Caller) {
        let umask = keepsAccessControlLists ? caller.umask : 0
        let current = identity.pointer?.assumingMemoryBound(to: ThreadIdentity.self)
        if let current, current.pointee.owner == caller.owner, current.pointee.group == caller.group {
            if current.pointee.umask != umask { System.setUmask(umask) }
            current.pointee.umask = umask
            return
        }
        System.setUmask(umask)
        if geteuid() == 0 { System.actAs(owner: caller.owner, group: caller.group) }
        let new = ThreadIdentity(owner: caller.owner, group: caller.group, umask: umask)
        if let current {
            current.pointee = new
        } else {
            let fresh = UnsafeMutablePointer<ThreadIdentity>.allocate(capacity: 1)
            fresh.initialize(to: new)
            identity.pointer = UnsafeMutableRawPointer(fresh)
        }
    }
}
