import Glibc
import PurgeSystem

extension StoreDirectory {
    var owner: (user: uid_t, group: gid_t) {
        get throws(Errno) {
            let status = try System.status(descriptor.raw)
            return (status.st_uid, status.st_gid)
        }
    }

    /// As root, gives a new entry to the store's owner, who can then still use the store. If that fails (a user namespace, a
    /// quota), the entry stays root's, and this process can use it.
    func giveToOwner(_ made: Int32) { Self.give(made, toOwnerOf: descriptor.raw) }

    /// Creates a folder for the store's owner, or for the current user if this process can create none for that owner.
    func makeFolder(_ name: String, in parent: FileDescriptor, mode: mode_t) throws(Errno) {
        let owner = try owner
        try System.makeDirectory(at: parent.raw, name, mode: mode, for: owner.user, owner.group)
    }

    static func give(_ made: Int32, toOwnerOf directory: Int32) {
        guard geteuid() == 0 else { return }
        do throws(Errno) {
            let (owner, status) = (try System.status(directory), try System.status(made))
            guard status.st_uid != owner.st_uid || status.st_gid != owner.st_gid else { return }
            try System.changeOwner(made, owner.st_uid, owner.st_gid)
        } catch {}
    }
}
