import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

/// Attributes that the file system under a new store refuses.
struct RestoredAttributesTests {
    /// Restores a file with `attribute`, while each call that sets an attribute fails.
    private func restore(_ attribute: String, failingWith code: Int32) throws -> Result<String, any Error> {
        var result: Result<String, any Error>?
        try SampleContainer.with { container in
            try Files.write("content", to: container.pathOf("a"))
            try Attributes.set(container.pathOf("a"), attribute, "value")
            let (backup, store) = ("\(container.path)/../backup", "\(container.path)/../store")
            let progress = BackupProgress(path: "test") { _ in }
            _ = try BackupCreation(container.source, SampleContainer.header, progress).run(to: backup)
            result =
                SystemCallFaults(after: 0, of: .setxattr, code: code).during {
                    _ = try BackupRestoration(backup, progress).run(to: store)
                    return String(decoding: try Files.content("\(store)/container/a"), as: UTF8.self)
                }.result
            if case .failure = result { #expect(!Files.exists(store)) }
        }
        return try #require(result)
    }

    @Test(arguments: [ENOSPC, E2BIG]) func noRoom(code: Int32) throws {
        let result = try restore("user.note", failingWith: code)
        let error = try #require(throws: StoreError.self) { try result.get() }
        #expect(error.path == "a" && error.what == "the attribute user.note cannot be restored")
        #expect(error.advice.contains("XFS and btrfs hold more") && error.advice.hasSuffix("Nothing was restored."))
    }

    @Test(arguments: [EINVAL, ERANGE]) func noAttributeOfAnApp(code: Int32) throws {
        let result = try restore("user.note", failingWith: code)
        let error = try #require(throws: StoreError.self) { try result.get() }
        #expect(error.what.contains("a has an invalid value of the attribute user.note"))
    }

    @Test(arguments: [EPERM, EACCES, EOPNOTSUPP]) func refused(code: Int32) throws {
        let result = try restore("user.note", failingWith: code)
        let error = try #require(throws: StoreError.self) { try result.get() }
        #expect(error.path == "a" && error.what.hasPrefix("it cannot be restored: "))
        #expect(error.advice.hasSuffix("Nothing was restored."))
    }

    /// Attributes for the system alone are left out if the file system refuses them.
    @Test(.enabled(if: geteuid() == 0, "only root has such attributes"), arguments: [EPERM, EACCES, EOPNOTSUPP])
    func ofTheSystem(code: Int32) throws {
        let content = try restore("trusted.note", failingWith: code).get()
        #expect(content == "content")
    }
}
