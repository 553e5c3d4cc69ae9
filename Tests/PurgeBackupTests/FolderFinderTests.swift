import Glibc
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

struct FolderFinderTests {
    @Test func everyWay() throws {
        try SampleContainer.with { container in
            let folders = ["a", "a/b", "a/b/c", "ab", "ab/c", "a/bc"]
            for folder in folders { try Files.makeDirectory(container.pathOf(folder)) }
            var finder = FolderFinder(try FileDescriptor.open(container.path, O_RDONLY))
            for first in folders + [""] {
                for second in folders + [""] {
                    _ = try finder.folder(at: Array(first.utf8))
                    let folder = try finder.folder(at: Array(second.utf8))
                    let found = try System.status(folder.raw).st_ino
                    let expected = try Files.status(second.isEmpty ? container.path : container.pathOf(second)).st_ino
                    #expect(found == expected, "\(second) after \(first)")
                }
            }
        }
    }

    /// Going down a deep tree and back up opens each folder only a few times.
    @Test func deepTree() throws {
        try SampleContainer.with { container in
            var paths: [[UInt8]] = []
            for depth in 1...200 {
                paths.append(Array(repeatElement("d", count: depth).joined(separator: "/").utf8))
                try Files.makeDirectory(container.pathOf(String(decoding: paths[depth - 1], as: UTF8.self)))
            }
            var finder = FolderFinder(try FileDescriptor.open(container.path, O_RDONLY))
            let outcome = SystemCallFaults.none.during {
                for path in paths + paths.reversed() { _ = try finder.folder(at: path) }
            }
            _ = try outcome.result.get()
            #expect(outcome.calls.count(where: { $0 == .openat }) <= 400)
        }
    }
}
