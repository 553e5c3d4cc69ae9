import Glibc
import PurgeStore
import PurgeSystem

/// The owner of a copy. As with `cp -a`, only root can give files away.
enum Ownership {
    /// The error for an owner not mapped into the user namespace of this process. For such an owner, the kernel refuses
    /// chown(2) with EINVAL, which has other meanings too, and the creation of a file with EOVERFLOW.
    static let unmapped = Errno(EOVERFLOW)
    private static let reason = "its owner or group is not mapped into this user namespace"
    private static let advice =
        "Do this outside of the namespace, map the owner into it (unshare --map-auto; /proc/self/uid_map shows the "
        + "mapping), or change the owner first (chown)."

    /// Returns the error for an unmapped owner.
    static func failure(_ what: String, path: String) -> StoreError {
        StoreError("\(what): \(reason)", path: path, advice: advice)
    }

    /// As root, changes the owner of `name` in `file`, or of `file` itself. Does nothing for any other user.
    static func give(_ file: Int32, _ name: RawText?, _ owner: uid_t, _ group: gid_t) throws(Errno) {
        guard geteuid() == 0 else { return }
        do throws(Errno) {
            guard let name else { return try System.changeOwner(file, owner, group) }
            try System.changeOwner(at: file, name, owner, group)
        } catch .invalid { throw areAllMapped ? .invalid : unmapped }
    }

    /// Whether all owners are mapped, as they are outside of user namespaces (user_namespaces(7)).
    private static var areAllMapped: Bool {
        ["uid_map", "gid_map"].allSatisfy { map in
            do throws(Errno) {
                let map = try FileDescriptor.open("/proc/self/\(map)", O_RDONLY).readToEnd()
                let fields = map.split { [UInt8(ascii: " "), UInt8(ascii: "\n")].contains($0) }
                return fields.map { String(decoding: $0, as: UTF8.self) } == ["0", "0", "4294967295"]
            } catch { return false }
        }
    }
}
