import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

struct StoreTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    @Test func makesTheLayoutOfAContainer() throws {
        let store = try Store.open(directory["store"], creating: true)
        #expect(store.isNew)
        #expect(store.path == directory["store"])
        #expect(directory.names(in: "store") == ["container"])
        #expect(directory.names(in: "store/container") == ["Documents", "Library", "tmp"])
        #expect(directory.names(in: "store/container/Library") == ["Application Support", "Caches", "Preferences"])
        #expect(try System.status(at: AT_FDCWD, directory["store/container/Library/Caches"]).st_mode & 0o777 == 0o755)
    }

    @Test func opensAgainOnceTheFirstIsGone() throws {
        do { _ = try Store.open(directory["store"], creating: true) }
        try directory.write("hello", to: "store/container/Documents/note")
        let store = try Store.open(directory["store"], creating: false)
        #expect(!store.isNew)
        #expect(try directory.read("store/container/Documents/note") == "hello")
    }

    @Test func makesWhatIsMissingOfTheLayout() throws {
        do { _ = try Store.open(directory["store"], creating: true) }
        try System.removeDirectory(at: AT_FDCWD, directory["store/container/Library/Caches"])
        do { _ = try Store.open(directory["store"], creating: false) }
        #expect(!directory.exists("store/container/Library/Caches"))
        do { _ = try Store.open(directory["store"], creating: true) }
        #expect(directory.exists("store/container/Library/Caches"))
    }

    /// The note of a removal is voided if its file cannot be unlinked, for example in an immutable store directory.
    @Test func aNoteOfARemovalEndsWhereItCannotBeRemoved() throws {
        let note = try Store.open(directory["store"], creating: true).removalNote
        try note.make()
        #expect(try note.exists)
        let faults = SystemCallFaults(after: 0, of: .unlinkat, code: EPERM, count: .max)
        #expect(try !faults.during { try note.remove() }.result.get())
        #expect(directory.exists("store/device.json.removing"))
        #expect(try !note.exists)
        try note.make()
        #expect(try note.exists)
        #expect(try note.remove())
        #expect(!directory.exists("store/device.json.removing"))
    }

    @Test func leavesWhatTheAppPutInPlaceOfAFolder() throws {
        do { _ = try Store.open(directory["store"], creating: true) }
        for name in ["Caches", "Preferences", "Application Support"] {
            try System.removeDirectory(at: AT_FDCWD, directory["store/container/Library/\(name)"])
        }
        try System.removeDirectory(at: AT_FDCWD, directory["store/container/Library"])
        try System.makeSymbolicLink(to: "/etc", at: AT_FDCWD, directory["store/container/Library"])
        _ = try Store.open(directory["store"], creating: true)
        #expect(try System.status(at: AT_FDCWD, directory["store/container/Library"]).st_mode & S_IFMT == S_IFLNK)
        #expect(access("/etc/Caches", F_OK) != 0)
    }

    @Test func resolvesItsPath() throws {
        try directory.makeDirectory("real")
        try System.makeSymbolicLink(to: "real", at: AT_FDCWD, directory["link"])
        let store = try Store.open(directory["link"], creating: true)
        #expect(store.path == directory["link"])
        #expect(store.absolutePath == directory["real"])
    }

    @Test func adoptsAFileSystemsTop() throws {
        try directory.makeDirectory("store")
        try directory.makeDirectory("store/lost+found")
        #expect(try Store.open(directory["store"], creating: true).isNew)
    }

    @Test func makesSidecarsWhenWanted() throws {
        let store = try Store.open(directory["store"], creating: true)
        #expect(!directory.exists("store/extents"))
        let first = try store.sidecars(making: true)
        #expect(directory.exists("store/extents"))
        #expect(try store.sidecars(making: true) === first)
    }
}
