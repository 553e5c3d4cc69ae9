import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

/// Privileges of other users in a backup.
@Suite(.enabled(if: geteuid() == 0, "only root can bring rights of others"))
struct DroppedPrivilegesTests {
    /// CAP_NET_BIND_SERVICE, permitted and effective (VFS_CAP_REVISION_2).
    private static let capability: [UInt8] = [1, 0, 0, 2, 0, 4] + [UInt8](repeating: 0, count: 14)

    /// Restores a file for each privilege, one with both set-ID bits, a plain file and a folder. `body` gets the outcome, and a
    /// function from names to paths in the new container.
    private func restore(
        forUser: Bool, _ body: (BackupRestoration.Outcome, (String) -> String) throws -> Void
    ) throws {
        try SampleContainer.with { container in
            for (name, mode) in [("plain", mode_t(0o755)), ("user", 0o4755), ("group", 0o2711), ("both", 0o6700)] {
                try Files.write("content", to: container.pathOf(name))
                try #require(chown(container.pathOf(name), 0, name == "both" ? 1 : 0) == 0)
                try Files.changeMode(container.pathOf(name), mode)
            }
            try Files.makeDirectory(container.pathOf("folder"))
            try Files.changeMode(container.pathOf("folder"), 0o2755)
            try Files.write("content", to: container.pathOf("capable"))
            try Attributes.set(container.pathOf("capable"), "security.capability", Self.capability)
            let (backup, store) = ("\(container.path)/../backup", "\(container.path)/../store")
            let progress = BackupProgress(path: "test") { _ in }
            _ = try BackupCreation(container.source, SampleContainer.header, progress).run(to: backup)
            if forUser {
                try Files.makeDirectory(store)
                try #require(chown(store, 65534, 65534) == 0)
            }
            try body(try BackupRestoration(backup, progress).run(to: store)) { "\(store)/container/\($0)" }
        }
    }

    private func mode(_ path: String) throws -> mode_t { try Files.status(path).st_mode & 0o7777 }

    /// Even in a user's store, files keep their owners: without their privileges, they give nobody any rights.
    @Test func inAStoreOfAUser() throws {
        try restore(forUser: true) { (outcome, path) in
            for (name, expected) in [("plain", mode_t(0o755)), ("user", 0o755), ("group", 0o711), ("both", 0o700)] {
                let status = try Files.status(path(name))
                #expect(status.st_mode & 0o7777 == expected && status.st_uid == 0, "\(name)")
            }
            let (folder, attributes) = (try mode(path("folder")), try Attributes.names(path("capable")))
            #expect(folder == 0o2755 && attributes.isEmpty)
            let dropped = outcome.dropped.map { "\($0.path): \($0.privileges.joined(separator: " "))" }.sorted()
            #expect(
                dropped == [
                    "both: set-user-ID set-group-ID", "capable: security.capability", "group: set-group-ID",
                    "user: set-user-ID",
                ])
        }
    }

    @Test func inAStoreOfRoot() throws {
        try restore(forUser: false) { (outcome, path) in
            for (name, expected) in [("user", mode_t(0o4755)), ("group", 0o2711), ("both", 0o6700)] {
                let mode = try mode(path(name))
                #expect(mode == expected, "\(name)")
            }
            let capability = try Attributes.get(path("capable"), "security.capability")
            #expect(capability == Self.capability && outcome.dropped.isEmpty)
        }
    }
}
