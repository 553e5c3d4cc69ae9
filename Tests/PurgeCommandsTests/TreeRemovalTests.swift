import Glibc
import PurgeStore
import PurgeSystem
import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands

struct TreeRemovalTests {
    /// A tree is removed even if it is deeper than paths and file descriptors allow.
    @Test func removesADeepTree() throws {
        let root = try System.makeTemporaryDirectory(prefix: "/tmp/purgefs-removal-test.")
        let parent = try FileDescriptor.open(root, O_RDONLY | O_DIRECTORY)
        try System.makeDirectory(at: parent.raw, "tree", mode: 0o755)
        var folder = try parent.open("tree", O_RDONLY | O_DIRECTORY)
        for level in 0..<1200 {
            _ = try folder.open("file", O_WRONLY | O_CREAT, mode: 0o600)
            try System.makeSymbolicLink(to: "/", at: folder.raw, "link")
            try System.makeDirectory(at: folder.raw, "purgefs-remove.\(level % 7)", mode: 0o755)
            try System.makeDirectory(at: folder.raw, "deep", mode: 0o755)
            let next = try folder.open("deep", O_RDONLY | O_DIRECTORY)
            if level % 5 == 0 { try System.changeMode(next.raw, 0) }
            folder = next
        }
        try TreeRemoval.run("tree", in: parent)
        #expect(try parent.open(".", O_RDONLY | O_DIRECTORY).names().isEmpty)
        try TreeRemoval.run("tree", in: parent)  // already gone
        try System.removeDirectory(at: AT_FDCWD, root)
    }

    @Test func aRunRemovesOnlyWhatIsItsOwn() throws {
        #expect(throws: CommandFailure.self) { try RunArea(root: "/tmp").remove() }
        let area = try RunArea.make(in: "/tmp")
        let mountpoint = try area.makeMountpoint(container: "ID")
        #expect(mountpoint == area.root + "/Containers/Data/Application/ID")
        try System.makeDirectory(at: AT_FDCWD, area.store, mode: 0o755)
        // A process left behind by the command makes this after the unmount.
        try System.makeDirectory(at: AT_FDCWD, mountpoint + "/Library", mode: 0o755)
        _ = try FileDescriptor.open(mountpoint + "/Library/late", O_WRONLY | O_CREAT, mode: 0o600)
        try area.remove()
        try area.remove()
        #expect(throws: Errno.noEntry) { try System.status(ofPath: area.root) }
    }
}
