import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

/// A store whose opening or mount failed is restored to its earlier state.
struct StoreBeforeTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func open(_ name: String = "store", start: String? = nil) throws -> Store {
        try Store.open(directory[name], creating: true, start: start)
    }

    /// An opening in which one system call fails leaves nothing. Each call fails once, in turn.
    @Test(arguments: [EIO, ENOSPC, EMFILE]) func nothingIsLeftByAFailure(code: Int32) throws {
        try directory.makeDirectory("empty")
        try System.changeMode(at: AT_FDCWD, directory["empty"], 0o755)
        var failures = 0
        for name in ["store", "empty"] {
            var number = 0
            while true {
                let faults = SystemCallFaults(after: number, code: code)
                let outcome = faults.during { try Store.open(directory[name], creating: true) }
                if case .success(let store) = outcome.result { store.withdraw() } else { failures += 1 }
                if outcome.hits == 0 { break }
                #expect(directory.names() == ["empty"], "\(name): call \(number)")
                #expect(directory.names(in: "empty") == [], "\(name): call \(number)")
                #expect(try System.status(at: AT_FDCWD, directory["empty"]).st_mode & 0o777 == 0o755)
                number += 1
            }
        }
        #expect(failures > 20)
    }

    /// A mount does not repeat the preparations of its start, unless another process has had the store in between.
    @Test func whatItsStartHasPreparedIsNotMadeAgain() throws {
        let folder = directory["store/container/tmp"]
        func opened(by start: String) throws -> Bool {
            try System.removeDirectory(at: AT_FDCWD, folder)
            let store = try open(start: start)
            #expect(!store.isNew)
            return directory.exists("store/container/tmp")
        }
        try open(start: "/run/one").leaveMark(of: "/run/one")
        #expect(try !opened(by: "/run/one"))
        try System.makeDirectory(at: AT_FDCWD, folder, mode: 0o755)
        #expect(try opened(by: "/run/two"))
        #expect(try opened(by: "/run/one"))
    }

    @Test func withdrawsSettingsAndJournalOfItsOwn() throws {
        let store = try open()
        try store.saveSettings(try store.loadSettings())
        try Journal.open(in: store).close()
        store.withdraw()
        #expect(directory.names() == [])
    }

    /// A withdrawal leaves files whose names merely start like those of a store: they belong to someone else.
    @Test func leavesWhatItHasNotMade() throws {
        let store = try open()
        try store.saveSettings(try store.loadSettings())
        try directory.write("mine", to: "store/device.json.mine")
        try directory.write("mine", to: "store/journal.sqlite.mine")
        store.withdraw()
        #expect(directory.names(in: "store") == ["device.json.mine", "journal.sqlite.mine"])
    }

    /// Entries that existed before the store was opened stay, and so do entries that were added since.
    @Test func takesNothingElseAway() throws {
        do {
            let store = try open()
            try store.saveSettings(try store.loadSettings())
        }
        try System.removeDirectory(at: AT_FDCWD, directory["store/container/tmp"])
        try open().withdraw()
        #expect(directory.names(in: "store") == ["container", "device.json"])
        #expect(directory.names(in: "store/container") == ["Documents", "Library"])
        let other = try open("other")
        try other.saveSettings(try other.loadSettings())
        try directory.write("precious", to: "other/container/Documents/f")
        other.withdraw()
        #expect(directory.names(in: "other") == ["container", "device.json"])
        #expect(directory.names(in: "other/container") == ["Documents", "Library", "tmp"])
        #expect(
            directory.names(in: "other/container/Library") == ["Application Support", "Caches", "Preferences"])
        #expect(try directory.read("other/container/Documents/f") == "precious")
        let third = try open("third")
        try directory.write("precious", to: "third/notes")
        third.withdraw()
        #expect(directory.names(in: "third") == ["container", "notes"])
        #expect(directory.names(in: "third/container") == ["Documents", "Library", "tmp"])
    }

    /// A withdrawal leaves the last words, which may still be read, and the rollback journal, which SQLite needs.
    @Test func leavesLastWordsAndTheJournalsJournal() throws {
        do {
            let store = try open()
            try store.saveSettings(try store.loadSettings())
            try Journal.open(in: store).close()
        }
        try directory.write("words", to: "store/last-words.txt")
        let store = try open()
        #expect(store.takeLastWords() == "words")
        try directory.write("", to: "store/journal.sqlite-journal")
        store.withdraw()
        #expect(
            directory.names(in: "store") == [
                "container", "device.json", "journal.sqlite", "journal.sqlite-journal", "last-words.old.txt",
            ])
    }

    /// A start that has released the store removes nothing while another process holds the store.
    @Test func leavesAStoreThatIsInUse() throws {
        let before = try start("first")
        let other = try open(start: "first")
        try other.saveSettings(try other.loadSettings())
        before.restore(after: "first")
        #expect(directory.names(in: "store") == ["container", "device.json"])
        withExtendedLifetime(other) {}
    }

    /// A start that has released the store removes everything that it and its own daemon have made.
    @Test func withdrawsAfterItsOwnDaemon() throws {
        try directory.makeDirectory("store")
        let before = try start("first")
        do {
            let daemon = try open(start: "first")
            try daemon.saveSettings(try daemon.loadSettings())
        }
        // Opening the store for reading does not count as a use by another process.
        _ = try Store.openForReading(directory["store"])
        before.restore(after: "first")
        #expect(directory.names(in: "store") == [])
        #expect(throws: Errno.noData) { try Attributes.get(directory["store"], "user.purgefs.start") }
    }

    /// A start that restores a store waits for a lock that is held for a moment: a child just forked by another thread holds
    /// the store's lock until its exec.
    @Test func waitsForALockThatIsHeldForAMoment() throws {
        let before = try start("first")
        let outcome = SystemCallFaults(after: 0, of: .flock, code: EAGAIN, count: 3).during {
            before.restore(after: "first")
        }
        #expect(outcome.hits == 3 && directory.names() == [])
    }

    /// A start that has released the store removes nothing if another start, or any other process, has used the store since.
    @Test func leavesAStoreThatWasUsed() throws {
        let meanwhile: [() throws -> Void] = [
            { _ = try open() },
            { _ = try Store.open(directory["store"], creating: false) },
            { _ = try StoreInspection.run(directory["store"], repairing: true) },
            { _ = try start("second") },
            { try start("first").keep(after: "first") },
        ]
        for use in meanwhile {
            try Program.run("rm", "-rf", directory["store"]).succeeded()
            let before = try start("first")
            try use()
            before.restore(after: "first")
            #expect(directory.names(in: "store/container") == ["Documents", "Library", "tmp"])
        }
    }

    private func start(_ name: String) throws -> StoreBefore {
        let store = try open(start: name)
        store.leaveMark(of: name)
        return store.before
    }
}
