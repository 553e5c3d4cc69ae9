import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

/// Backups of a folder that stands for a mounted container, restored as stores.
struct RoundTripTests {
    private func progress() -> BackupProgress { BackupProgress(path: "test") { _ in } }

    /// Backs up and restores; `body` gets the summary and the container of the new store.
    private func roundTrip(
        _ container: SampleContainer, _ body: (BackupSummary, String) throws -> Void
    ) throws {
        let (backup, store) = ("\(container.path)/../backup", "\(container.path)/../store")
        let summary = try BackupCreation(container.source, SampleContainer.header, progress()).run(to: backup)
        _ = try BackupRestoration(backup, progress()).run(to: store)
        try body(summary, "\(store)/container")
    }

    /// The flag on the container excludes everything in it.
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

    /// A file in Library/Caches is in the backup if it has another name elsewhere, under that name. A file whose names are all
    /// in Library/Caches is left out once.
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

    /// Restored holes are recorded before the first mount, which could not tell them from blocks of attributes. A file whose
    /// hole exists only in the archive gets no record: a gap inside an allocated block is data.
    @Test func filesWithHoles() throws {
        try SampleContainer.with { container in
            let block = 4096
            let written: [String: (size: Int, data: [Int], hasHoles: Bool)] = [
                "empty": (0, [], false), "byte": (1, [0], false), "hole": (1, [], true), "block": (block, [], true),
                "full": (3 * block, [0, block, 2 * block], false), "begin": (3 * block, [block, 2 * block], true),
                "middle": (3 * block, [0, 2 * block], true), "end": (3 * block, [0, block], true),
                "last byte": (2 * block + 1, [0, block], true), "edges": (2 * block, [block - 1, block], false),
            ]
            for (name, file) in written {
                let opened = try FileDescriptor.open(container.pathOf(name), O_RDWR | O_CREAT, mode: 0o600)
                try System.truncate(opened.raw, Int64(file.size))
                for offset in file.data {
                    try withUnsafeBytes(of: UInt8(5)) {
                        try #require(try System.pwrite(opened.raw, $0, offset: Int64(offset)) == 1)
                    }
                }
            }
            try roundTrip(container) { (_, restored) in
                for (name, file) in written {
                    let record = try? Attributes.get("\(restored)/\(name)", "user.purgefs.extents")
                    #expect(record == (file.hasHoles ? [UInt8(ascii: "i")] : nil), "\(name)")
                }
            }
        }
    }

    /// Times in the future are recorded: with the stamp alone, the file would not age with the device's clock.
    @Test func timesInTheFuture() throws {
        try SampleContainer.with { container in
            try Files.makeDirectory(container.pathOf("d"))
            for name in ["both", "read", "past"] { try Files.write("x", to: container.pathOf(name)) }
            try Files.symlink("x", container.pathOf("link"))
            let (past, future) = (
                timespec(tv_sec: 1_000_000_000, tv_nsec: 5), timespec(tv_sec: 4_000_000_000, tv_nsec: 7)
            )
            func set(_ name: String, _ accessed: timespec, _ modified: timespec) throws {
                try #require(
                    utimensat(AT_FDCWD, container.pathOf(name), [accessed, modified], AT_SYMLINK_NOFOLLOW) == 0)
            }
            try set("both", future, future)
            try set("read", future, past)
            try set("past", past, past)
            try set("link", past, future)
            try set("d", past, future)
            try roundTrip(container) { (_, restored) in
                func times(_ name: String, _ key: String = "user.purgefs.times") -> String? {
                    try? Attributes.text("\(restored)/\(name)", key)
                }
                #expect(times("both") == "a4000000000.000000007+0 m4000000000.000000007+0")
                #expect(times("read") == "a4000000000.000000007+0")
                #expect(times("past") == nil)
                #expect(times("d") == "m4000000000.000000007+0")
                if geteuid() == 0 { #expect(times("link", "trusted.purgefs.times") == "m4000000000.000000007+0") }
                for name in ["both", "link", "d"] {
                    let status = try Files.status("\(restored)/\(name)")
                    #expect(status.st_mtim.tv_sec == future.tv_sec)
                }
            }
        }
    }

    /// user::rwx, user:1234:rwx, group::r-x, mask::rwx, other::r-x, in the format of <linux/posix_acl_xattr.h>.
    private static let list: [UInt8] = [
        2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 210, 4, 0, 0, 4, 0, 5, 0, 255, 255, 255, 255, 16, 0, 7,
        0,
        255, 255, 255, 255, 32, 0, 5, 0, 255, 255, 255, 255,
    ]

    /// Restored files do not inherit an ACL that they did not have.
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
