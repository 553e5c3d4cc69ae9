import Glibc
import PurgeStore
import PurgeSystem

/// The owner of a copy. As with `cp -a`, only root can give files away.
enum Ownership {
    /// The kernel has EINVAL for an owner who is not mapped into the user namespace of this process, and for much else; this is
    /// what it has for the same thing elsewhere.
    static let unmapped = Errno(EOVERFLOW)
    private static let reason = "its owner or group is not mapped into this user namespace"
    private static let advice =
        "/proc/self/uid_map and gid_map say who is: do this outside of the namespace, map them into it "
        + "(unshare --map-auto), or change the owner first (chown)."

    /// The failure that says so, of what could not be done.
    static func failure(_ what: String, path: String) -> StoreError {
        StoreError("\(what): \(reason)", path: path, advice: advice)
    }

    /// `name` in `file`, or `file` itself.
    static func give(_ file: Int32, _ name: RawText?, _ owner: uid_t, _ group: gid_t) throws(Errno) {
        guard geteuid() == 0 else { return }
        do throws(Errno) {
            guard let name else { return try System.changeOwner(file, owner, group) }
            try System.changeOwner(at: file, name, owner, group)
        } catch .invalid { throw unmapped }
    }
}
