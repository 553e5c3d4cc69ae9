import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeTree
@testable import PurgeVolume

/// Reboots, and updates and deletions of the app: which entries go, which stay, and that no work is left half done.
struct DeviceWorkTests {
    /// Creates 2 blocks in tmp, 3 in Caches and 4 in Documents.
    private func fill(_ live: LiveVolume) throws {
        try live.makeDirectory("tmp/d")
        try live.make("tmp/d/a", blocks: 2)
        try live.make("Library/Caches/b", blocks: 3)
        try live.makeDirectory("Documents/e")
        try live.make("Documents/e/c", blocks: 4)
    }
    private static let filled: Set = ["tmp/d", "tmp/d/a", "Library/Caches/b", "Documents/e", "Documents/e/c"]
    private static let layout: Set = [
        "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
    ]
    private func stored(_ live: LiveVolume) throws -> Set<String> { Set(try Files.tree(live.stored(""))) }
    private static func without(_ gone: String...) -> Set<String> { layout.union(filled).subtracting(gone) }

    @Test func aReboot() throws {
        try withVolume { live in
            try fill(live)
            try live.command(.appState, "launch")
            let id = live.volume.device.containerID
            try live.command(.deviceState, "reboot")
            #expect(try stored(live) == Self.without("tmp/d", "tmp/d/a"))
            #expect(live.used == 7)
            let saved = try live.volume.store.loadSettings()
            for device in [live.volume.device, saved] {
                #expect(device.state == .beforeFirstUnlock && device.boots == 2 && device.containerID == id)
                #expect(!device.app.isRunning && device.unfinished == nil)
            }
            let events = try live.journal().suffix(3)
            #expect(events.map(\.type) == [.purge, .app, .device])
            #expect(events.map(\.reason) == ["reboot", "terminate", "beforeFirstUnlock"])
            #expect(events.allSatisfy { $0.trigger == .reboot && $0.pid == LiveVolume.tid })
            try live.command(.deviceState, "unlock")
            #expect(live.volume.controlFiles.text(of: .deviceState) == "unlocked\n")
        }
    }

    @Test func anUpdate() throws {
        try withVolume { live in
            try fill(live)
            try live.command(.appState, "launch")
            let id = live.volume.device.containerID
            try live.command(.appState, "update")
            #expect(try stored(live) == Self.without("tmp/d", "tmp/d/a"))
            let saved = try live.volume.store.loadSettings()
            #expect(saved.containerID != id && saved.containerID == live.volume.device.containerID)
            #expect(saved.unfinished == nil && saved.state == .unlocked && saved.boots == 1)
            #expect(live.volume.controlFiles.text(of: .appState) == "terminated\n")
            let events = try live.journal().suffix(2)
            #expect(events.map(\.type) == [.purge, .app])
            #expect(events.map(\.reason) == ["temporary", "update"])
            #expect(events.first?.trigger == .command && events.first?.bytes == ByteCount(blocks: 2))
            #expect(live.volume.device.counters.purgedFiles == 1)
        }
    }

    /// A deletion also removes open files and special files, and resets the attributes and the mode of the container.
    @Test func aRemoval() throws {
        try withVolume { live in
            try fill(live)
            try live.link("Documents/e/c", "Documents/linked")
            try live.symlink("Library/link")
            try live.makeFIFO("fifo")
            try live.set("isPurgeable", of: "", to: "high")
            try live.set("purgeGroup", of: "", to: "1")
            try live.set("isExcludedFromBackup", of: "", to: "1")
            try live.set("user.own", of: "", to: "x")
            try live.change(try live.node(""), nil) { $0.mode = 0o500 }
            try live.command(.appState, "launch")
            let id = live.volume.device.containerID
            let handle = try live.open("Library/Caches/b")
            try live.command(.appState, "delete")
            #expect(try stored(live) == [])
            #expect(live.used == 3)
            live.volume.close(handle)
            #expect(live.used == 0)
            #expect(try live.scannedBlocks() == 0)
            #expect(try Files.status(live.stored("")).st_mode & 0o7777 == 0o755)
            #expect(try live.volume.extendedAttributes.names(of: live.volume.root, caller: LiveVolume.caller) == [])
            #expect(live.volume.root.ownMark.mark == nil)
            #expect(live.volume.root.behaviour == PurgeBehaviour())
            let saved = try live.volume.store.loadSettings()
            #expect(saved.containerID != id && saved.unfinished == nil)
            #expect(live.volume.controlFiles.text(of: .appState) == "terminated\n")
            let event = try #require(try live.journal().last)
            #expect(event.type == .app && event.reason == "delete" && event.bytes == ByteCount(blocks: 6))
            #expect(try live.events(.purge).isEmpty)
            #expect(live.volume.device.counters == .init())
        }
    }

    @Test func aLaunchMakesTheLayoutAgain() throws {
        try withVolume { live in
            try live.command(.appState, "delete")
            try live.command(.appState, "launch")
            #expect(try stored(live) == Self.layout)
            #expect(live.used == 0)
            try fill(live)
            #expect(live.used == 9)
            #expect(try live.scannedBlocks() == 9)
            #expect(live.volume.status().tiers.temporary.bytes == ByteCount(blocks: 2))
        }
    }

    /// An entry that the app has put in a folder's place stays.
    @Test func aLaunchLeavesWhatIsThere() throws {
        try withVolume { live in
            try live.removeDirectory("tmp")
            try live.make("tmp", blocks: 1)
            for folder in ["Library/Application Support", "Library/Caches", "Library/Preferences", "Library"] {
                try live.removeDirectory(folder)
            }
            try live.make("Library", blocks: 1)
            try live.removeDirectory("Documents")
            try live.command(.appState, "launch")
            #expect(try stored(live) == ["tmp", "Library", "Documents"])
            #expect(live.volume.controlFiles.text(of: .appState) == "foreground\n")
            #expect(live.used == 2)
        }
    }

    @Test func onlyALaunchedAppIsTerminated() throws {
        try withVolume { live in
            for command in ["terminate", "launch", "launch", "terminate", "terminate"] {
                try live.command(.appState, command)
            }
            #expect(try live.events(.app).map(\.reason) == ["launch", "terminate"])
            for wrong in ["", "\n", "start", "launch terminate", "LAUNCH", "\u{0}"] {
                #expect(throws: Errno.invalid) { try live.command(.appState, wrong) }
            }
        }
    }

    /// The next mount does not take over a running app.
    @Test func theAppDoesNotOutliveTheMount() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.command(.appState, "launch")
                #expect(live.volume.status().app.running)
                live.volume.end()
            }
            #expect(try !LiveVolume(store).volume.status().app.running)
        }
    }

    /// A deletion gives the container the store's owner and the usual mode, even if one of its attributes cannot be removed.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func aDeletionGivesTheContainerBack() throws {
        try withVolume { live in
            try live.change(live.volume.root, nil) { ($0.owner, $0.group, $0.mode) = (1000, 1000, 0o700) }
            try live.set("user.x", of: "", to: "y")
            let outcome = SystemCallFaults(after: 0, of: .removexattr, code: EIO).during {
                try live.command(.appState, "delete")
            }
            try outcome.result.get()
            let (container, store) = (try Files.status(live.stored("")), try Files.status(live.storePath))
            #expect(outcome.hits == 1 && container.st_mode & 0o7777 == 0o755)
            #expect(container.st_uid == store.st_uid && container.st_gid == store.st_gid && container.st_uid == 0)
        }
    }

    /// If the mark of the work cannot be saved, nothing is removed, because a crash could leave the work half done.
    @Test(arguments: [(ControlFile.deviceState, "reboot"), (.appState, "update"), (.appState, "delete")])
    func nothingGoesWhereTheMarkCannotBeSaved(file: ControlFile, command: String) throws {
        try withVolume { live in
            try fill(live)
            let before = live.volume.device
            let faults = SystemCallFaults(after: 0, of: .fsync, code: EIO, count: .max)
            let outcome = faults.during { try live.command(file, command) }
            #expect(throws: Errno.canceled) { try outcome.result.get() }
            #expect(outcome.hits > 0)
            #expect(try stored(live) == Self.without())
            #expect(live.volume.device.asSaved == before.asSaved)
            #expect(try !live.volume.store.removalNote.exists)
            live.volume.keeper.saveDevice()
            #expect(try live.volume.store.loadSettings().unfinished == nil)
            try live.command(file, command)
            #expect(!live.exists("tmp/d"))
        }
    }

    /// Leaves the store as if the daemon had been killed before it removed anything.
    private func interrupt(_ live: LiveVolume) throws { try live.volume.store.removalNote.make() }

    /// The next mount, or the next use of the unmounted store, finishes work whose daemon ended after it saved the mark and
    /// before it removed anything.
    @Test(arguments: [DeviceWork.reboot, .update, .delete], [false, true])
    func theNextMountFinishesIt(work: DeviceWork, isMounted: Bool) throws {
        try withStore { store in
            let id: String
            do {
                let live = try LiveVolume(store)
                try fill(live)
                id = live.volume.device.containerID
                live.volume.end()
            }
            if isMounted {
                let live = try LiveVolume(store) {
                    LiveVolume.small(&$0)
                    $0.unfinished = work
                }
                try interrupt(live)
                #expect(live.exists("tmp/d/a"))
                try live.volume.finishInterruptedWork()
                #expect(try stored(live) == (work == .delete ? Self.layout : Self.without("tmp/d", "tmp/d/a")))
                #expect(live.used == (work == .delete ? 0 : 7))
                try live.volume.startThreads()
                live.volume.end()
            } else {
                do { try interrupt(try LiveVolume(store) { $0.unfinished = work }) }
                let offline = try OfflineVolume(storePath: store)
                #expect(try offline.read("storage.used") == (work == .delete ? "0\n" : "28672\n"))
                try offline.close()
            }
            let saved = try Store.open(store, creating: false).loadSettings()
            #expect(saved.unfinished == nil && saved.boots == (work == .reboot ? 2 : 1))
            #expect(!Files.exists("\(store)/device.json.removing"))
            #expect((saved.containerID == id) == (work == .reboot))
            #expect(saved.state == (work == .reboot ? .beforeFirstUnlock : .unlocked))
            let told = try JournalReader(storePath: store).events(.init(types: [.app, .device]))
            #expect(told.map(\.reason) == [work == .reboot ? "beforeFirstUnlock" : work.rawValue])
        }
    }

    /// If device.json cannot be written after the files are gone, entries made afterwards still stay, however the mount ends.
    @Test(
        arguments: [(ControlFile.deviceState, "reboot"), (.appState, "update"), (.appState, "delete")], [false, true])
    func whatIsMadeAfterwardsStays(command: (file: ControlFile, word: String), isKilled: Bool) throws {
        try withStore { store in
            let before: Device
            do {
                let live = try LiveVolume(store)
                try fill(live)
                before = live.volume.device
                // Three calls of fsync(2) save the mark and the removal note: one for device.json, two for its directory.
                let outcome = SystemCallFaults(after: 3, of: .fsync, code: EIO, count: .max).during {
                    #expect(throws: Errno.ioError) { try live.command(command.file, command.word) }
                    #expect(!live.exists("tmp/d"))
                    if command.word == "delete" { try live.makeDirectory("tmp") }
                    try live.makeDirectory("tmp/new")
                    if isKilled { return }
                    let loss = try #require(live.volume.end())
                    #expect(loss.what.contains("the settings of this mount are not saved ("))
                    let lost = command.word == "reboot" ? "boots, the lock state" : "the UUID of the container"
                    #expect(loss.what.contains("\(lost), the end of "))
                    #expect(loss.advice.contains("Input/output error"))
                }
                try outcome.result.get()
                #expect(outcome.hits > 0)
                #expect(try live.volume.store.loadSettings().unfinished != nil)
            }
            let live = try LiveVolume(store)
            try live.makeDirectory("tmp/byHand")
            try live.volume.finishInterruptedWork()
            #expect(live.exists("tmp/new") && live.exists("tmp/byHand") && !live.exists("tmp/d"))
            let saved = try live.volume.store.loadSettings()
            #expect(saved.unfinished == nil && saved.boots == before.boots + (command.word == "reboot" ? 1 : 0))
            #expect((saved.containerID == before.containerID) == (command.word == "reboot"))
        }
    }

    /// If the end of earlier work could not be saved, new work first removes the mark of that work. Otherwise the next mount
    /// could find the old mark together with the new note that files are being removed.
    @Test func theMarkOfAnEarlierWorkGoesFirst() throws {
        try withVolume { live in
            let first = SystemCallFaults(after: 3, of: .fsync, code: EIO, count: .max).during {
                try live.command(.appState, "delete")
            }
            #expect(throws: Errno.ioError) { try first.result.get() }
            #expect(try live.volume.store.loadSettings().unfinished == .delete)
            let second = SystemCallFaults(after: 2, of: .fsync, code: EIO, count: .max).during {
                try live.command(.deviceState, "reboot")
            }
            #expect(throws: Errno.canceled) { try second.result.get() }
            let saved = try live.volume.store.loadSettings()
            #expect(saved.unfinished == nil && saved.boots == 1)
            #expect(saved.containerID == live.volume.device.containerID)
        }
    }

    /// A folder that the app has removed comes back only with the end of a deletion.
    @Test(arguments: [DeviceWork.reboot, .update, .delete]) func onlyADeletionMakesFolders(work: DeviceWork) throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.removeDirectory("Library/Preferences")
                live.volume.end()
            }
            let live = try LiveVolume(store) {
                LiveVolume.small(&$0)
                $0.unfinished = work
            }
            try interrupt(live)
            // The mount creates missing folders before it finishes the work.
            if live.exists("Library/Preferences") { try live.removeDirectory("Library/Preferences") }
            try live.volume.finishInterruptedWork()
            #expect(live.exists("Library/Preferences") == (work == .delete))
            live.volume.end()
        }
    }

    /// A store whose mark cannot be removed is not opened, because the next mount would make the change again.
    @Test(arguments: [DeviceWork.reboot, .update, .delete])
    func anEndThatCannotBeSavedIsNoMount(work: DeviceWork) throws {
        try withStore { store in
            do { _ = try LiveVolume(store) { $0.unfinished = work } }
            let faults = SystemCallFaults(after: 0, of: .fsync, code: EIO, count: .max)
            let outcome = faults.during { () -> Bool in
                do {
                    _ = try OfflineVolume(storePath: store)
                    return true
                } catch { return false }
            }
            #expect(outcome.hits > 0)
            #expect(try !outcome.result.get())
            #expect(try Store.open(store, creating: false).loadSettings().unfinished == work)
        }
    }

    /// A volume that is opened for reading leaves the store as it is.
    @Test func readingFinishesNothing() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store) {
                    LiveVolume.small(&$0)
                    $0.unfinished = .delete
                }
                try fill(live)
                live.volume.end()
            }
            do {
                let offline = try OfflineVolume(storePath: store, forReading: true)
                #expect(try offline.read("storage.used") == "36864\n")
                try offline.close()
            }
            #expect(try Store.open(store, creating: false).loadSettings().unfinished == .delete)
        }
    }

    /// A deletion fails if an entry cannot be removed, but it removes the rest.
    @Test(.needsImmutableFiles) func aRemovalThatLeavesSomething() throws {
        try withVolume { live in
            try fill(live)
            try Immutable.with(live.stored("Documents/e/c")) {
                #expect(throws: Errno.notEmpty) { try live.command(.appState, "delete") }
            }
            #expect(try stored(live) == ["Documents", "Documents/e", "Documents/e/c"])
            #expect(live.used == 4)
            #expect(live.volume.device.unfinished == nil)
            try live.command(.appState, "delete")
            #expect(try stored(live) == [])
        }
    }

    /// A launch whose folders cannot be created in time returns anyway, and the census counts the launch as late.
    @Test func aLaunchDoesNotWaitForAFolderThatIsHeld() throws {
        try withVolume(port: FakeKernel(folders: .late)) { live in
            try live.command(.appState, "delete")
            try live.command(.appState, "launch")
            #expect(live.volume.census().late == 1)
            #expect(live.volume.root.entries.isEmpty)
        }
    }
}
