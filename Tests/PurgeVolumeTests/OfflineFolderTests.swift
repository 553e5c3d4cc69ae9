import Glibc
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// Removal of entries from a store that no daemon holds.
struct OfflineFolderTests {
    private func withFilledStore(_ body: (String) throws -> Void) throws {
        try OfflineVolumeTests.withFilledStore { store in
            try Files.symlink("../Documents", "\(store)/container/tmp/link")
            try body(store)
        }
    }

    @Test func whatIsThere() throws {
        try withFilledStore { store in
            let volume = try OfflineVolume(storePath: store)
            let folder = try volume.folder.folder("tmp")
            let entries = folder.entries.sorted { $0.name.count < $1.name.count }
            #expect(entries.map(\.charged.wholeBlocks) == [3, 0])
            #expect(entries.map(\.isLink) == [false, true] && entries.allSatisfy { !$0.isFolder && $0.names == 1 })
            #expect(throws: Errno(ELOOP)) { try folder.folder("link") }
            #expect(throws: Errno.notDirectory) { try folder.folder("a") }
            #expect(throws: Errno.noEntry) { try folder.folder("none") }
            #expect(throws: Errno.noEntry) { try volume.folder.folder(".purgefs") }
            #expect(throws: Errno.noEntry) { try volume.folder.folder("..") }
            try volume.close()
        }
    }

    @Test func whatIsRemovedIsNoLongerCharged() throws {
        try withFilledStore { store in
            do {
                let volume = try OfflineVolume(storePath: store)
                let folder = try volume.folder.folder("tmp")
                #expect(throws: Errno.notEmpty) { try volume.folder.remove("tmp", isFolder: true) }
                try folder.remove("a", isFolder: false)
                #expect(try volume.read("storage.used") == "8192\n")
                #expect(throws: Errno.noEntry) { try folder.remove("a", isFolder: false) }
                try folder.remove("link", isFolder: false)
                try volume.folder.remove("tmp", isFolder: true)
                try volume.close()
            }
            #expect(!Files.exists("\(store)/container/tmp") && Files.exists("\(store)/container/Documents/b"))
            #expect(try LiveVolume(store).used == 2)
        }
    }

    @Test func readingRemovesNothing() throws {
        try withFilledStore { store in
            let volume = try OfflineVolume(storePath: store, forReading: true)
            let folder = try volume.folder.folder("tmp")
            #expect(throws: Errno.readOnly) { try folder.remove("a", isFolder: false) }
            try volume.close()
            #expect(Files.exists("\(store)/container/tmp/a"))
        }
    }
}
