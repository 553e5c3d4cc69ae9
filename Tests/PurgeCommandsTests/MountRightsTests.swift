import Testing

@testable import PurgeCommands

/// The obstacles to mounting, and the messages about them.
struct MountRightsTests {
    @Test(arguments: [
        // Processes with the capability, which need no helper, and one with a usable helper.
        (MountRights(isRoot: true, canAdminister: true), nil, ""),
        (MountRights(canAdminister: true, canGain: false, hasNoNewPrivileges: true, helper: .missing), nil, ""),
        (MountRights(), nil, ""),
        // Docker's default, as root and as a user.
        (MountRights(isRoot: true, canGain: false), "CAP_SYS_ADMIN", "--cap-add SYS_ADMIN"),
        (MountRights(isRoot: true, canGain: false, hasNoNewPrivileges: true), "CAP_SYS_ADMIN", "--cap-add SYS_ADMIN"),
        (MountRights(canGain: false), "CAP_SYS_ADMIN", "--device /dev/fuse"),
        (MountRights(canGain: false, helper: .missing), "CAP_SYS_ADMIN", "apparmor=unconfined"),
        // Root without CAP_SYS_ADMIN gains it by executing fusermount3, unless that is forbidden.
        (MountRights(isRoot: true), nil, ""),
        (MountRights(isRoot: true, hasNoNewPrivileges: true), "CAP_SYS_ADMIN", "--cap-add SYS_ADMIN"),
        (MountRights(hasNoNewPrivileges: true), "fusermount3", "no-new-privileges"),
        (MountRights(helper: .missing), "fusermount3", "package fuse3"),
        (MountRights(helper: .powerless("/opt/fusermount3")), "/opt/fusermount3", "chmod u+s /opt/fusermount3"),
        (MountRights(userWithoutName: 1000), "fusermount3", "useradd --uid 1000"),
        (MountRights(hasNoNewPrivileges: true, userWithoutName: 1000), "fusermount3", "no-new-privileges"),
        (MountRights(canAdminister: true, userWithoutName: 1000), nil, ""),
        (MountRights(isRoot: true, hasMountsOfOthers: true), "CAP_SYS_ADMIN", "unshare --user --map-root-user --mount"),
    ])
    func objections(rights: MountRights, subject: String?, advice: String) {
        let objection = rights.objection
        #expect(objection?.subject == subject)
        #expect(objection.map { $0.advice.contains(advice) } ?? true, "\(String(describing: objection))")
    }
}
