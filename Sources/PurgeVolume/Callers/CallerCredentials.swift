import PurgeSystem

/// Facts about the caller that a request does not carry, read from /proc: its groups, and whether it has CAP_FSETID. They are
/// read only for entries with set-user-ID or set-group-ID, which are rare.
struct CallerCredentials {
    private(set) var groups: Set<UInt32> = []
    /// Whether the caller has CAP_FSETID in the initial user namespace, and so may keep set-user-ID and set-group-ID of files
    /// that it changes. A process can have all capabilities in another user namespace, so those mean nothing here.
    private(set) var keepsPrivileges = false

    func mayKeepGroupPrivilege(of status: FileStatus) -> Bool {
        keepsPrivileges || groups.contains(status.st_gid)
    }

    /// Reads the credentials of a caller. A caller that cannot be seen (because it has ended, or is in another PID namespace)
    /// has neither groups nor the capability.
    init(of tid: Int32) {
        guard tid > 0, let file = try? FileDescriptor.open("/proc/\(tid)/status", 0),
            let bytes = try? file.readToEnd()
        else { return }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split { $0 == "\t" || $0 == " " }
            switch words.first {
            // Real, effective, saved, file system: the last one counts here.
            case "Gid:": groups.formUnion(words.dropFirst(4).compactMap { UInt32($0) })
            case "Groups:": groups.formUnion(words.dropFirst().compactMap { UInt32($0) })
            case "CapEff:":
                let capabilities = words.last.flatMap { UInt64($0, radix: 16) } ?? 0
                keepsPrivileges = capabilities & 1 << 4 != 0 && Self.isInInitialNamespace(tid)
            default: break
            }
        }
    }

    /// Whether the thread is in the initial user namespace, whose number is fixed: USER_NS_INIT_INO of <linux/nsfs.h>. A
    /// namespace that cannot be seen counts as another one.
    private static func isInInitialNamespace(_ tid: Int32) -> Bool {
        do throws(Errno) { return try System.status(ofPath: "/proc/\(tid)/ns/user").st_ino == 0xEFFF_FFFD } catch {
            return false
        }
    }
}
