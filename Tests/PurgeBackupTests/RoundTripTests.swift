import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

/// Backups of a folder that is read as a mounted container would be, restored as stores.
struct RoundTripTests {
    private static let header = BackupHeader(
        created: "2026-11-22T12:00:00.000Z", container: "64D2D0B7-3CC8-46A4-8F77-4F2C0B6C3E11", source: "/nowhere",
        device: Device(containerID: "64D2D0B7-3CC8-46A4-8F77-4F2C0B6C3E11"))

    private func progress() -> BackupProgress { BackupProgress(path: "test") { _ in } }

    /// Gives `body` what was backed up and the container of the new store.
    private func roundTrip(
        _ container: SampleContainer, _ body: (BackupSummary, String) throws -> Void
    ) throws {
        let (backup, store) = ("\(container.path)/../backup", "\(container.path)/../store")
        let summary = try BackupCreation(container.source, Self.header, progress()).run(to: backup)
        _ = try BackupRestoration(backup, progress()).run(to: store)
        try body(summary, "\(store)/container")
    }

    /// Then everything in it is left out.
    @Test func excludedContainer() throws {
        try SampleContainer.with { container in
            try Files.write("12345", to: container.pathOf("a"))
            try Attributes.mark(container.path, "isExcludedFromBackup", "1")
            try roundTrip(container) { (summary, restored) in
                #expect(summary.entries == 1 && summary.leftOut.map(\.path) == ["."])
                #expect(summary.leftOut.first?.entries == 1 && summary.leftOut.first?.bytes == ByteCount(5))
                #expect(!Files.exists("\(restored)/a") && Files.exists("\(restored)/Documents"))
            }
        }
    }

    /// It is in the backup under the other name, so nothing of it is left out.
    @Test func nameInCaches() throws {
        try SampleContainer.with { container in
            for folder in ["Library", "Library/Caches", "Library/Preferences"] {
                try Files.makeDirectory(container.pathOf(folder))
            }
            try Files.write("12345", to: container.pathOf("Library/Caches/f"))
            try Files.write("123", to: container.pathOf("Library/Caches/g"))
            for (name, other) in [("Caches/f", "Preferences/f"), ("Caches/g", "Caches/h")] {
                try #require(link(container.pathOf("Library/\(name)"), container.pathOf("Library/\(other)")) == 0)
            }
            try roundTrip(container) { (summary, restored) in
                #expect(summary.leftOut.map(\.bytes) == [ByteCount(3)] && summary.bytes == ByteCount(5))
                let size = try Files.size("\(restored)/Library/Preferences/f")
                #expect(size == 5)
            }
        }
    }

    /// user::rwx, user:1234:rwx, group::r-x, mask::rwx, other::r-x, as <linux/posix_acl_xattr.h> has it.
    private static let list: [UInt8] = [
        2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 210, 4, 0, 0, 4, 0, 5, 0, 255, 255, 255, 255, 16, 0, 7,
        0,
        255, 255, 255, 255, 32, 0, 5, 0, 255, 255, 255, 255,
    ]

    /// The files in a folder do not inherit what they did not have.
    @Test func defaultACL() throws {
        try SampleContainer.with { container in
            try Files.makeDirectory(container.pathOf("d"))
            try Files.write("x", to: container.pathOf("d/f"))
            try Attributes.set(container.pathOf("d"), "system.posix_acl_default", Self.list)
            try roundTrip(container) { (_, restored) in
                let ofFolder = try Attributes.get("\(restored)/d", "system.posix_acl_default")
                #expect(ofFolder == Self.list)
                #expect(throws: Errno.noData) { try Attributes.get("\(restored)/d/f", "system.posix_acl_access") }
            }
        }
    }
}
