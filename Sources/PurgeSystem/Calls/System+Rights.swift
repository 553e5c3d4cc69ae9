import CSystemShims
import Glibc

// The privileges of this process.
extension System {
    /// CAP_SYS_ADMIN of <linux/capability.h>, which mounting needs.
    private static let administration: Int32 = 21

    /// Whether this process has CAP_SYS_ADMIN over its own mounts.
    public static var canAdministerMounts: Bool {
        shim_has_capability(administration) == 1 && shim_owns_mounts() != 0
    }
    /// Whether the mounts of this process belong to a parent of its user namespace.
    public static var hasMountsOfOthers: Bool { shim_owns_mounts() == 0 }
    /// Whether a program that this process executes could have CAP_SYS_ADMIN.
    public static var canGainAdministration: Bool { shim_may_gain_capability(administration) != 0 }
    /// Whether executed programs cannot gain privileges (PR_SET_NO_NEW_PRIVS).
    public static var hasNoNewPrivileges: Bool { shim_has_no_new_privileges() == 1 }
}
