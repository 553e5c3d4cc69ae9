import CSystemShims
import Glibc

// What this process may do.
extension System {
    /// CAP_SYS_ADMIN of <linux/capability.h>, which mounting needs.
    private static let administration: Int32 = 21

    /// Whether it has CAP_SYS_ADMIN, and has it over its own mounts.
    public static var canAdministerMounts: Bool {
        shim_has_capability(administration) == 1 && shim_owns_mounts() != 0
    }
    /// Whether its mounts belong to a parent of its user namespace.
    public static var hasMountsOfOthers: Bool { shim_owns_mounts() == 0 }
    /// Whether a program that it executes could have CAP_SYS_ADMIN.
    public static var canGainAdministration: Bool { shim_may_gain_capability(administration) != 0 }
    /// Whether no program that it executes gets more rights (PR_SET_NO_NEW_PRIVS).
    public static var hasNoNewPrivileges: Bool { shim_has_no_new_privileges() == 1 }
}
