import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

/// A directory that cannot be a store is refused with a message, and nothing is touched.
struct StoreRefusalTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func refusal(_ name: String, creating: Bool = true) throws -> StoreError {
        let error = try storeError { _ = try Store.open(directory[name], creating: creating) }
        #expect(!error.advice.isEmpty)
        return error
    }

    @Test func refusesAFile() throws {
        try directory.write("precious", to: "file")
        let error = try refusal("file")
        #expect(error.what == "is a file; a store is a directory")
        #expect(error.path == directory["file"])
        #expect(try directory.read("file") == "precious")
    }

    /// If the directory that was checked or made has been exchanged or removed since, opening the store fails and creates
    /// nothing.
    @Test(arguments: ["empty", "gone", "file"]) func refusesAnotherThanTheKnown(there: String) throws {
        let known = try KnownDirectory(path: directory.path)
        if there == "empty" { try directory.makeDirectory("store") }
        if there == "file" { try directory.write("", to: "store") }
        let before = directory.names()
        for creating in [true, false] {
            let error = try storeError {
                if creating {
                    _ = try Store.open(directory["store"], creating: true, expected: .directory(known.identity))
                } else {
                    _ = try Store.openForReading(directory["store"], expected: .directory(known.identity))
                }
            }
            #expect(error.what.hasPrefix("the store was moved, removed or replaced after"))
            #expect(directory.names() == before && (there != "empty" || directory.names(in: "store").isEmpty))
        }
    }

    /// If there was no directory, an entry that somebody has put there in the meantime does not become a store.
    @Test(arguments: ["directory", "link"]) func makesTheNew(there: String) throws {
        _ = try Store.open(directory["store"], creating: true, expected: .new)
        try directory.makeDirectory("other")
        if there == "directory" {
            try directory.makeDirectory("next")
        } else {
            try System.makeSymbolicLink(to: "other", at: AT_FDCWD, directory["next"])
        }
        let error = try storeError { _ = try Store.open(directory["next"], creating: true, expected: .new) }
        #expect(error.what.hasPrefix("a directory appeared under the name of the new store after"))
        #expect(directory.names(in: "next") == [] && ExpectedStore("new") == .new)
    }

    /// Only a missing path means that the store may be created; every other failure is reported.
    @Test func findsTheKnown() throws {
        #expect(try KnownDirectory.ofStore(directory.path)?.identity == KnownDirectory(path: directory.path).identity)
        #expect(try KnownDirectory.ofStore(directory["missing"])?.identity == nil)
        let outcome = SystemCallFaults(after: 0, of: .openat, code: EMFILE).during {
            try storeError { _ = try KnownDirectory.ofStore(directory.path) }
        }
        #expect(try outcome.result.get().what == "the store cannot be opened: Too many open files")
        try directory.write("", to: "file")
        let error = try storeError { _ = try KnownDirectory.ofStore(directory["file"]) }
        #expect(error.what == "is a file; a store is a directory")
    }

    @Test func acceptsTheKnown() throws {
        try directory.makeDirectory("store")
        let known = try KnownDirectory(path: directory["store"])
        #expect(FileIdentity("\(known.identity)") == known.identity)
        _ = try Store.open(directory["store"], creating: true, expected: .directory(known.identity))
        _ = try Store.open(directory["store"], creating: false, expected: .directory(known.identity))
    }

    @Test func refusesAMissingParent() throws {
        let error = try refusal("missing/store")
        #expect(error.what == "the store cannot be made: the directory above it does not exist")
        #expect(error.path == directory["missing/store"])
        #expect(directory.names() == [])
    }

    @Test func refusesAFileInThePath() throws {
        try directory.write("", to: "file")
        #expect(try refusal("file/store").what == "the store cannot be opened: Not a directory")
    }

    @Test func refusesALinkToNothing() throws {
        try System.makeSymbolicLink(to: "nowhere", at: AT_FDCWD, directory["link"])
        #expect(try refusal("link").what == "is a symbolic link to something that does not exist")
    }

    @Test func refusesAnEmptyName() throws {
        let error = try storeError { _ = try Store.open("", creating: true) }
        #expect(error.what == "the name of the store is empty")
    }

    @Test func refusesWhatIsNotThereUnlessItMayMakeIt() throws {
        #expect(try refusal("store", creating: false).what == "there is no store here")
        try directory.makeDirectory("empty")
        #expect(
            try refusal("empty", creating: false).what
                == "there is no store here: the directory has neither container/ nor device.json")
        #expect(directory.names(in: "empty") == [])
    }

    @Test func refusesAStoreInUseAndNamesTheHolder() throws {
        let holder = try Store.open(directory["store"], creating: true)
        let error = try refusal("store")
        #expect(error.what == "the store is in use by process \(getpid()); one mount at a time can hold it")
        #expect(error.advice == "Unmount it first (`purgefs unmount MOUNTPOINT`), or use another store.")
        withExtendedLifetime(holder) {}
    }

    /// A store whose daemon reports that its mount is ending is awaited longer than a store in use.
    @Test func waitsForADaemonThatIsEnding() throws {
        do { _ = try Store.open(directory["store"], creating: true) }
        let daemon = try Program.start([
            Program.python, "-c",
            """
            import fcntl, os, sys, time
            store = os.open(sys.argv[1], os.O_RDONLY)
            fcntl.flock(store, fcntl.LOCK_EX)
            mark = os.memfd_create(sys.argv[2])
            print("ready", flush=True)
            time.sleep(0.6)
            """, directory["store"], EndingMark.name,
        ])
        try eventually("the lock") { daemon.output == "ready\n" }
        _ = try Store.open(directory["store"], creating: false)
        #expect(try daemon.wait(within: 10) == 0)
    }

    @Test func severalCopyAStoreAndNoneMountsItMeanwhile() throws {
        do { _ = try Store.open(directory["store"], creating: true) }
        let first = try Store.openForReading(directory["store"], forCopying: true)
        do {
            let second = try Store.openForReading(directory["store"], forCopying: true)
            withExtendedLifetime(second) {}
        }
        let error = try refusal("store")
        #expect(error.what == "the store is being copied by process \(getpid())")
        #expect(error.advice == "Wait until that has ended.")
        withExtendedLifetime(first) {}
    }

    @Test func aStoreInUseIsNotCopied() throws {
        let holder = try Store.open(directory["store"], creating: true)
        let error = try storeError { _ = try Store.openForReading(directory["store"], forCopying: true) }
        #expect(error.what == "the store is in use by process \(getpid()); one mount at a time can hold it")
        withExtendedLifetime(holder) {}
    }

    @Test func findsTheHolderInTheKernelsTable() {
        let table = """
            1: POSIX  ADVISORY  WRITE 11 fe:00:77 0 EOF
            2: FLOCK  ADVISORY  WRITE 12 fe:01:77 0 EOF
            2: -> FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF
            3: FLOCK  ADVISORY  WRITE 14 fe:00:77 0 EOF
            4: FLOCK  ADVISORY  READ  15 fe:00:79 0 EOF
            5: FLOCK  ADVISORY  READ  16 fe:00:79 0 EOF
            """
        func holder(_ inode: ino_t, where isThere: (Int32) -> Bool = { _ in true }) -> StoreHolder.Process? {
            StoreHolder.process(device: 0xFE00, inode: inode, in: table, where: isThere)
        }
        #expect(holder(77) == StoreHolder.Process(pid: 14, isCopying: false))
        #expect(holder(79) == StoreHolder.Process(pid: 15, isCopying: true))
        // A dead process may have left its lock to a child.
        #expect(holder(79) { $0 != 15 } == StoreHolder.Process(pid: 16, isCopying: true))
        #expect(holder(78) == nil)
        #expect(StoreHolder.process(device: 0x10_FE00, inode: 77, in: table) == nil)
    }

    @Test(arguments: [["README"], ["container", "src"], [".git", "journal.sqlite"]])
    func adoptsNoDirectoryWithOtherThings(names: [String]) throws {
        try directory.makeDirectory("project")
        for name in names { try directory.makeDirectory("project/\(name)") }
        let error = try refusal("project")
        #expect(error.what.hasPrefix("is not a store, and not empty"))
        #expect(error.advice.contains("Nothing was changed"))
        #expect(directory.names(in: "project") == names.sorted())
    }

    @Test func takesAStoreThatHasOtherThingsBesides() throws {
        do {
            let store = try Store.open(directory["store"], creating: true)
            try store.saveSettings(Device(containerID: DeviceSettingsTests.id))
        }
        try directory.write("", to: "store/NOTES")
        #expect(try !Store.open(directory["store"], creating: true).isNew)
    }

    @Test func tellsOfALostContainer() throws {
        try directory.makeDirectory("store")
        try directory.write("{}", to: "store/device.json")
        let error = try refusal("store", creating: false)
        #expect(error.what == "the store has lost its container")
        #expect(error.path == directory["store/container"])
    }

    @Test func refusesAContainerThatIsALink() throws {
        try directory.makeDirectory("store")
        try directory.makeDirectory("elsewhere")
        try System.makeSymbolicLink(to: "../elsewhere", at: AT_FDCWD, directory["store/container"])
        #expect(try refusal("store").what == "is not a directory")
        #expect(directory.names(in: "elsewhere") == [])
    }

    @Test func refusesWithoutPermission() throws {
        do { _ = try Store.open(directory["store"], creating: true) }
        try directory.makeDirectory("closed")
        for (name, mode) in [("store", 0o555), ("closed", 0), (".", 0o555)] as [(String, mode_t)] {
            try System.changeMode(at: AT_FDCWD, directory[name], mode)
        }
        defer { for name in [".", "store", "closed"] { chmod(directory[name], 0o700) } }
        System.actAs(owner: 12345, group: 12345)  // drops root's rights; does nothing for other users
        defer { System.actAs(owner: geteuid(), group: getegid()) }
        #expect(try refusal("store").what == "the store cannot be written: Permission denied")
        #expect(try refusal("closed").what == "the store cannot be opened: Permission denied")
        #expect(try refusal("new").what == "the store cannot be made: Permission denied")
    }
}
