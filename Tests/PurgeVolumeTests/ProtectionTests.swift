import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
@testable import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

extension LiveVolume {
    func enter(_ state: LockState) throws(Errno) {
        try volume.deviceChanges.make(by: 0) { (device, now) throws(DeviceRefusal) in
            device.lock.state = state
            device.lock.inactiveAt = state == .locked ? now.advanced(by: device.lock.inactivity) : .distantPast
            return [.lockState(state)]
        }
    }
    func read(_ handle: Handle, _ count: Int = 16) throws(Errno) -> Int {
        let request = ReadRequest(offset: 0, length: count, tid: Self.tid)
        return try withUnsafeTemporaryAllocation(byteCount: request.bufferLength, alignment: 8) { buffer in
            Result { () throws(Errno) in
                switch try volume.read(handle, request, into: buffer) {
                case .copied(let bytes): bytes.count
                case .spliced(_, _, let length): length
                }
            }
        }.get()
    }
    func makeFile(_ path: String) throws(Errno) {
        let (parent, name) = try place(path)
        let entry = try volume.makeNode(name, in: parent, mode: S_IFREG | 0o644, device: 0, caller: Self.caller)
        volume.forget(entry.node, count: 1)
    }
    func protection(of path: String) throws(Errno) -> FileProtection? { try node(path).protection }
    /// Returns the class in the store.
    func storedClass(of path: String) -> String? {
        try? Support.Attributes.text(stored(path), "user.purgefs.fileProtection")
    }
}

/// Data protection without a kernel (docs/PROTECTION.md).
struct ProtectionTests {
    /// Each call, with the access that the matrix admits or refuses. The file and its folder have the class.
    private static let calls: [(DataAccess, @Sendable (LiveVolume, Handle) throws -> Void)] = [
        (.open, { live, _ in live.volume.close(try live.open("Documents/d/f", O_RDONLY)) }),
        (.open, { live, _ in live.volume.close(try live.open("Documents/d/f", O_WRONLY)) }),
        (.open, { live, _ in live.volume.close(try live.open("Documents/d/f", O_WRONLY | O_TRUNC)) }),
        (.open, { live, _ in live.volume.close(try live.create("Documents/d/f", O_RDWR | O_CREAT)) }),
        (.open, { live, _ in try live.truncate("Documents/d/f", 4096) }),
        (.create, { live, _ in live.volume.close(try live.create("Documents/d/new")) }),
        (.create, { live, _ in live.volume.close(try live.makeTemporary("Documents/d")) }),
        (.create, { live, _ in try live.makeFile("Documents/d/node") }),
        (.use, { live, handle in _ = try live.read(handle) }),
        (.use, { live, handle in _ = try live.read(handle, 1 << 17) }),
        (.use, { live, handle in try live.write(handle, at: 0, 10) }),
        (.use, { live, handle in try live.write(handle, at: 40 * 4096, 4096) }),
        (.use, { live, handle in try live.allocate(handle, 0, 0, 8192) }),
        (.use, { live, handle in try live.allocate(handle, Allocate.punchHole, 0, 4096) }),
        (.use, { live, handle in try live.truncate(handle.node, handle, 20 * 4096) }),
    ]

    /// A refused call changes nothing in the store, in the tree and in the numbers, and is counted.
    @Test(arguments: matrix) func everyCall(
        protection: FileProtection, state: LockState, open: Bool, create: Bool, use: Bool
    ) throws {
        try withVolume { live in
            try live.makeDirectory("Documents/d")
            try live.set("fileProtection", of: "Documents/d", to: protection.rawValue)
            for (access, call) in Self.calls {
                try live.enter(.unlocked)
                try live.make("Documents/d/f", blocks: 33)
                let handle = try live.open("Documents/d/f")
                try live.enter(state)
                let isAdmitted = [DataAccess.open: open, .create: create, .use: use][access] == true
                let (before, denied) = (live.used, live.volume.device.counters.protectionDenied)
                if isAdmitted {
                    try call(live, handle)
                } else {
                    #expect(throws: Errno.notPermitted) { try call(live, handle) }
                    #expect(try Files.names(in: live.stored("Documents/d")) == ["f"])
                    #expect(try live.node("Documents/d").entries.count == 1)
                    #expect(try Files.status(live.stored("Documents/d/f")).size == 33 * 4096)
                    #expect(live.used == before)
                }
                #expect(live.volume.device.counters.protectionDenied == denied + (isAdmitted ? 0 : 1))
                live.volume.close(handle)
                for name in try Files.names(in: live.stored("Documents/d")) { try live.unlink("Documents/d/" + name) }
            }
        }
    }

    /// The matrix of docs/PROTECTION.md.
    private static let matrix: [(FileProtection, LockState, Bool, Bool, Bool)] = [
        (.complete, .unlocked, true, true, true), (.complete, .locking, true, true, true),
        (.complete, .locked, false, false, false), (.complete, .beforeFirstUnlock, false, false, false),
        (.complete, .inactive, false, false, false), (.completeUnlessOpen, .inactive, false, true, true),
        (.completeUnlessOpen, .locking, true, true, true), (.completeUnlessOpen, .locked, false, true, true),
        (.completeUnlessOpen, .beforeFirstUnlock, false, true, true),
        (.completeUntilFirstUserAuthentication, .locked, true, true, true),
        (.completeUntilFirstUserAuthentication, .beforeFirstUnlock, false, false, false),
        (.completeWhenUserInactive, .locking, true, true, true),
        (.completeWhenUserInactive, .locked, true, true, true),
        (.completeWhenUserInactive, .inactive, false, false, false),
        (.completeWhenUserInactive, .beforeFirstUnlock, false, false, false),
        (.completeUntilFirstUserAuthentication, .inactive, true, true, true), (.none, .inactive, true, true, true),
        (.none, .locked, true, true, true), (.none, .beforeFirstUnlock, true, true, true),
    ]

    @Test func everyRefusalIsToldWithClassAndState() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/d")
            try live.set("fileProtection", of: "Documents/d", to: "complete")
            let handle = try live.create("Documents/d/f")
            defer { live.volume.close(handle) }
            try live.enter(.locked)
            #expect(throws: Errno.notPermitted) { _ = try live.open("Documents/d/f") }
            #expect(throws: Errno.notPermitted) { _ = try live.read(handle) }
            #expect(throws: Errno.notPermitted) { _ = try live.create("Documents/d/g") }
            #expect(throws: Errno.notPermitted) { try live.set("fileProtection", of: "Documents/d/f", to: "none") }
            try live.enter(.beforeFirstUnlock)
            #expect(throws: Errno.notPermitted) { _ = try live.create("tmp/t") }
            let events = try live.events(.protectionDenied)
            #expect(
                events.map { "\($0.path ?? "") \($0.tier?.rawValue ?? "") \($0.reason ?? "")" } == [
                    "Documents/d/f persistent open complete locked", "Documents/d/f persistent use complete locked",
                    "Documents/d/g persistent create complete locked",
                    "Documents/d/f persistent setClass complete locked",
                    "tmp/t temporary create completeUntilFirstUserAuthentication beforeFirstUnlock",
                ])
            #expect(events.allSatisfy { $0.pid == LiveVolume.tid && $0.bytes == nil })
            #expect(live.volume.device.counters.protectionDenied == 5)
        }
    }

    /// Only a file's data has a key; metadata and other entries have none.
    @Test func metadataAlwaysWorks() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/d")
            try live.set("fileProtection", of: "Documents/d", to: "complete")
            try live.make("Documents/d/f", blocks: 2)
            try live.make("Documents/d/over", blocks: 1)
            let handle = try live.open("Documents/d/f")
            try live.enter(.locked)
            try live.makeDirectory("Documents/d/e")
            try live.symlink("Documents/d/l")
            try live.makeFIFO("Documents/d/p")
            try live.link("Documents/d/f", "Documents/d/h")
            try live.rename("Documents/d/f", "Documents/d/over")
            try live.unlink("Documents/d/h")
            try live.change(handle.node, handle) { $0.mode = 0o600 }
            try live.change(handle.node, nil) { $0.modificationTime = timespec(tv_sec: 5, tv_nsec: 6) }
            try live.mark("Documents/d/over", "high")
            try live.set("user.x", of: "Documents/d/over", to: "y")
            #expect(try live.charged(handle.node) == 8192)
            #expect(try live.volume.seek(handle, offset: 0, whence: Seek.hole) == 8192)
            try live.volume.sync(handle, dataOnly: false)
            live.volume.close(handle)
            try live.unlink("Documents/d/over")
            #expect(live.volume.device.counters.protectionDenied == 0)
        }
    }

    /// A write that was admitted before the device was locked is completed, and the next one is refused.
    @Test(arguments: [LockState.locked, .beforeFirstUnlock])
    func aRequestThatIsUnderWayIsCompleted(state: LockState) throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            let count = try live.write(handle, at: 0, 3000) { (fd, count) throws(Errno) in
                try live.enter(state)
                return try LiveVolume.put(fd, count, 0)
            }
            #expect(count == 3000 && live.used == 1)
            #expect(try Files.status(live.stored("Documents/f")).size == 3000)
            #expect(throws: Errno.notPermitted) { try live.write(handle, at: 3000, 1) }
            #expect(live.volume.device.counters.protectionDenied == 1)
        }
    }

    /// Pages of a mapping that arrive after the lock are written, because they were changed before it.
    @Test func pagesOfAMappingAreWrittenBack() throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            // Locks the device without dropping the kernel's pages.
            live.volume.core.restrictsData.store(true, ordering: .relaxed)
            live.volume.core.change { $0.tree.accounts.change { $0.lock.state = .locked } }
            #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 8192) }
            #expect(try live.write(handle, at: 0, 8192, isMapped: true) == 8192)
            #expect(live.used == 2)
            #expect(throws: Errno.noSpace) { _ = try live.write(handle, at: 0, 65 * 4096, isMapped: true) }
        }
    }

    @Test func aCopyNeedsBothFiles() throws {
        try withVolume { live in
            let (a, b) = (try live.create("Documents/a"), try live.create("Documents/b"))
            defer { for handle in [a, b] { live.volume.close(handle) } }
            for handle in [a, b] { try live.write(handle, at: 0, 4096) }
            for path in ["Documents/a", "Documents/b"] {
                try live.set("fileProtection", of: path, to: "complete")
                try live.enter(.locked)
                #expect(throws: Errno.notPermitted) { try live.copy(a, 0, to: b, 0, 4096) }
                try live.enter(.unlocked)
                try live.copy(a, 0, to: b, 0, 4096)
                try live.remove("fileProtection", from: path)
            }
        }
    }
}

/// The protection classes of entries.
struct ProtectionClassTests {
    /// New files and folders inherit a directory's own class. Older entries, symbolic links and special files do not.
    @Test func aNewEntryInherits() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/d")
            try live.make("Documents/d/before", blocks: 0)
            try live.set("fileProtection", of: "Documents/d", to: "completeUnlessOpen")
            let handle = try live.create("Documents/d/f")
            try live.makeDirectory("Documents/d/e")
            try live.makeFile("Documents/d/e/g")
            try live.symlink("Documents/d/l")
            try live.makeFIFO("Documents/d/p")
            let temporary = try live.makeTemporary("Documents/d/e")
            try live.link(temporary.node, "Documents/t")
            for open in [handle, temporary] { live.volume.close(open) }
            for path in ["Documents/d/f", "Documents/d/e", "Documents/d/e/g", "Documents/t"] {
                #expect(try live.protection(of: path) == .completeUnlessOpen)
                #expect(live.storedClass(of: path) == "NSFileProtectionCompleteUnlessOpen")
            }
            for path in ["Documents/d/before", "Documents", "Documents/d/l", "Documents/d/p"] {
                #expect(try live.protection(of: path) == nil)
                #expect(live.storedClass(of: path) == nil)
            }
            try live.rename("Documents/d/f", "tmp/f")
            #expect(try live.protection(of: "tmp/f") == .completeUnlessOpen)
        }
    }

    /// The kernel gets the attributes of the store, because the class is stored before they are read.
    @Test(arguments: ["create", "temporary", "node", "folder"]) func theChangeTimeIsThatOfTheStore(way: String) throws {
        try withVolume { live in
            try live.makeDirectory("Documents/d")
            try live.set("fileProtection", of: "Documents/d", to: "completeUnlessOpen")
            let (volume, folder, caller) = (live.volume, try live.node("Documents/d"), LiveVolume.caller)
            var handle: Handle?
            defer { if let handle { volume.close(handle) } }
            let made = SystemCallFaults.running({ try? Self.letTimePass(in: live.storePath) }, before: .setxattr) {
                switch way {
                case "create":
                    let (entry, opened) = try volume.create(
                        "f", in: folder, mode: 0o644, flags: O_RDWR | O_CREAT | O_EXCL, caller: caller,
                        offersPassthrough: false)
                    handle = opened
                    return entry
                case "temporary":
                    let (entry, opened) = try volume.makeTemporary(
                        in: folder, mode: 0o644, flags: O_RDWR, caller: caller)
                    handle = opened
                    return entry
                case "node":
                    return try volume.makeNode("f", in: folder, mode: S_IFREG | 0o644, device: 0, caller: caller)
                default: return try volume.makeDirectory("f", in: folder, mode: 0o755, caller: caller)
                }
            }
            #expect(made.hits == 1)
            let entry = try made.result.get()
            let stored =
                try handle.map { try System.status($0.descriptor) } ?? Files.status(live.stored("Documents/d/f"))
            #expect(Instant(stored.st_ctim) > Instant(stored.st_mtim))
            #expect(Instant(entry.attributes.status.st_ctim) == Instant(stored.st_ctim))
            volume.forget(entry.node, count: 1)
        }
    }

    /// Waits until the time of the store's file system has moved on.
    private static func letTimePass(in directory: String) throws {
        let path = directory + "/extents.clock"
        func changed() throws -> Instant {
            try Files.write("x", to: path)
            return Instant(try Files.status(path).st_ctim)
        }
        let start = try changed()
        try eventually("another time stamp") { try changed() > start }
        try Files.unlink(path)
    }

    /// The next mount knows the class that was set.
    @Test(arguments: FileProtection.allCases) func aScanFindsIt(protection: FileProtection) throws {
        try withStore { store in
            var live = try LiveVolume(store)
            try live.makeDirectory("Documents/d")
            try live.make("Documents/f", blocks: 1)
            for path in ["Documents/d", "Documents/f"] {
                try live.set("fileProtection", of: path, to: protection.rawValue)
            }
            live = try LiveVolume(after: live)
            #expect(try live.protection(of: "Documents/d") == protection)
            #expect(try live.protection(of: "Documents/f") == protection)
            try live.remove("fileProtection", from: "Documents/f")
            #expect(try live.protection(of: "Documents/f") == nil)
            live = try LiveVolume(after: live)
            #expect(try live.protection(of: "Documents/f") == nil)
        }
    }

    private func value(_ live: LiveVolume, of path: String) throws(Errno) -> String {
        let name = "user.purgefs.fileProtection"
        let value = try live.volume.extendedAttributes.value(
            of: try live.node(path), named: name, caller: LiveVolume.caller)
        return String(decoding: value, as: UTF8.self)
    }

    private func names(_ live: LiveVolume, of path: String) throws(Errno) -> [UInt8] {
        try live.volume.extendedAttributes.names(of: try live.node(path), caller: LiveVolume.caller)
    }

    /// Every file has a class, but the default is stored nowhere, so it is not listed.
    @Test func theDefaultCanBeReadAndIsNotListed() throws {
        try withVolume(settings: { $0.protection = .completeUnlessOpen }) { live in
            let made = SystemCallFaults.none.during { try live.make("Documents/f", blocks: 1) }
            #expect(!made.calls.contains(.setxattr))
            try live.symlink("Documents/l")
            #expect(try value(live, of: "Documents/f") == "NSFileProtectionCompleteUnlessOpen")
            #expect(try names(live, of: "Documents/f") == [])
            // A folder has a class only for new entries; symbolic links and special files have none.
            for path in ["Documents", "Documents/l"] {
                #expect(throws: Errno.noData) { _ = try value(live, of: path) }
            }
            #expect(throws: Errno.noData) { try live.remove("fileProtection", from: "Documents/f") }
            try live.set("fileProtection", of: "Documents/f", to: "none")
            #expect(try value(live, of: "Documents/f") == "NSFileProtectionNone")
            try live.remove("fileProtection", from: "Documents/f")
            #expect(try value(live, of: "Documents/f") == "NSFileProtectionCompleteUnlessOpen")
        }
    }

    /// Changes the default as a mount with another default does.
    private func change(_ live: LiveVolume, to new: FileProtection) throws -> LiveVolume {
        live.volume.keeper.saveDevice()
        var settings = try live.volume.store.loadSettings()
        try live.volume.scan.keepClasses(of: settings.protection)
        settings.protection = new
        try live.volume.store.saveSettings(settings)
        return try LiveVolume(after: live)
    }

    /// Files keep the default with which they were created.
    @Test func anotherDefaultIsForNewFiles() throws {
        try withStore { store in
            var live = try LiveVolume(store)
            for path in ["Documents/f", "tmp/own"] { try live.make(path, blocks: 1) }
            try live.link("Documents/f", "Documents/link")
            try live.set("fileProtection", of: "tmp/own", to: "none")
            try live.enter(.locked)
            live = try change(live, to: .complete)
            // The device is locked from the first call on.
            #expect(live.volume.device.state == .locked)
            live.volume.close(try live.open("Documents/f"))
            #expect(throws: Errno.notPermitted) { _ = try live.create("Documents/new") }
            try live.enter(.unlocked)
            try live.make("Documents/g", blocks: 1)
            live = try change(live, to: .completeUnlessOpen)
            for (path, protection) in [
                ("Documents/f", FileProtection.completeUntilFirstUserAuthentication), ("Documents/g", .complete),
                ("tmp/own", .none),
            ] {
                #expect(try value(live, of: path) == protection.appleName)
                #expect(live.storedClass(of: path) == protection.appleName)
            }
            try live.enter(.locked)
            live.volume.close(try live.open("Documents/link"))
            #expect(throws: Errno.notPermitted) { _ = try live.open("Documents/g") }
            #expect(live.storedClass(of: "Documents") == nil)
        }
    }

    /// Classes stored before the failure stay, and the next attempt stores only the rest. Its last system call flushes them to
    /// the disk.
    @Test func aChangeOfTheDefaultThatFails() throws {
        try withStore { store in
            let live = try LiveVolume(store)
            for path in ["Documents/a", "Documents/b"] { try live.make(path, blocks: 1) }
            let failing = SystemCallFaults(after: 1, of: .setxattr, code: ENOSPC).during {
                try live.volume.scan.keepClasses(of: .completeUntilFirstUserAuthentication)
            }
            #expect(failing.hits == 1)
            let error = #expect(throws: StoreError.self) { try failing.result.get() }
            #expect(error?.path.hasPrefix(live.stored("Documents/")) ?? false)
            #expect(
                error?.advice
                    == "Make room on the disk under the store, or leave --protection out. The default class is "
                    + "unchanged; "
                    + "1 file has it stored now.")
            let whole = SystemCallFaults.none.during {
                try live.volume.scan.keepClasses(of: .completeUntilFirstUserAuthentication)
            }
            let stored = try whole.result.get()
            #expect(stored == 1)
            #expect(whole.calls.count { $0 == .setxattr } == 1 && whole.calls.last == .syncfs)
            #expect(!whole.calls.contains(.openat), "a file is opened only if its owner may not write to it")
            #expect(["a", "b"].allSatisfy { live.storedClass(of: "Documents/" + $0) != nil })
        }
    }

    @Test func aChangeOfTheDefaultThatAnImmutableFileRefuses() throws {
        try withStore { store in
            let live = try LiveVolume(store)
            try live.make("Documents/a", blocks: 1)
            let refused = SystemCallFaults(after: 0, of: .setxattr, code: EPERM).during {
                try live.volume.scan.keepClasses(of: .completeUntilFirstUserAuthentication)
            }
            let refusal = #expect(throws: StoreError.self) { try refused.result.get() }
            #expect(
                refusal?.advice
                    == "Make the file changeable (chattr -i if lsattr shows an i), or leave --protection out. "
                    + "The default class is unchanged.")
        }
    }

    @Test func aStoredValueThatIsNoClassCountsAsNone() throws {
        try withStore { store in
            var live = try LiveVolume(store)
            try live.makeDirectory("Documents/d")
            try live.make("Documents/d/f", blocks: 1)
            for path in ["Documents/d", "Documents/d/f"] {
                try Support.Attributes.set(live.stored(path), "user.purgefs.fileProtection", "complet")
            }
            live = try LiveVolume(after: live)
            let warnings = live.volume.scan.takeRecordWarnings()
            #expect(warnings.count == 2)
            #expect(warnings.allSatisfy { $0.contains("fileProtection has an unknown value and is ignored") })
            #expect(warnings.contains { $0.hasPrefix(live.stored("Documents/d/f") + ": ") })
            try live.enter(.locked)
            live.volume.close(try live.open("Documents/d/f"))
            try live.make("Documents/d/g", blocks: 1)
            #expect(live.storedClass(of: "Documents/d/g") == nil)
            try live.enter(.unlocked)
            try live.set("fileProtection", of: "Documents/d/f", to: "complete")
            try live.remove("fileProtection", from: "Documents/d")
            #expect(try LiveVolume(after: live).volume.scan.recordProblems(repairing: false).isEmpty)
        }
    }

    /// After the expiry of access, and before the first unlock, also nothing enters or leaves `completeWhenUserInactive`.
    @Test func whatAnExpiryDoesToChangesOfClass() throws {
        try withVolume { live in
            for name in ["i", "n"] { try live.make("Documents/" + name, blocks: 1) }
            try live.set("fileProtection", of: "Documents/n", to: "none")
            try live.enter(.locked)
            try live.set("fileProtection", of: "Documents/i", to: "completeWhenUserInactive")
            try live.set("fileProtection", of: "Documents/n", to: "completeWhenUserInactive")
            try live.set("fileProtection", of: "Documents/n", to: "none")
            for state in [LockState.inactive, .beforeFirstUnlock] {
                try live.enter(state)
                #expect(throws: Errno.notPermitted) { try live.set("fileProtection", of: "Documents/i", to: "none") }
                #expect(throws: Errno.notPermitted) { try live.remove("fileProtection", from: "Documents/i") }
                #expect(throws: Errno.notPermitted) {
                    try live.set("fileProtection", of: "Documents/n", to: "completeWhenUserInactive")
                }
            }
            #expect(live.storedClass(of: "Documents/i") == "NSFileProtectionCompleteWhenUserInactive")
            #expect(live.storedClass(of: "Documents/n") == "NSFileProtectionNone")
            let reasons = try live.events(.protectionDenied).map(\.reason)
            #expect(
                reasons == [
                    "setClass completeWhenUserInactive inactive", "setClass completeWhenUserInactive inactive",
                    "setClass none locked", "setClass completeWhenUserInactive beforeFirstUnlock",
                    "setClass completeWhenUserInactive beforeFirstUnlock", "setClass none beforeFirstUnlock",
                ])
        }
    }

    @Test(arguments: [LockState.locked, .inactive, .beforeFirstUnlock])
    func whileLockedNothingEntersOrLeavesComplete(state: LockState) throws {
        try withVolume { live in
            for name in ["c", "n"] { try live.make("Documents/" + name, blocks: 1) }
            try live.set("fileProtection", of: "Documents/c", to: "complete")
            try live.enter(state)
            #expect(throws: Errno.notPermitted) { try live.set("fileProtection", of: "Documents/c", to: "none") }
            #expect(throws: Errno.notPermitted) { try live.remove("fileProtection", from: "Documents/c") }
            #expect(throws: Errno.notPermitted) { try live.set("fileProtection", of: "Documents/n", to: "complete") }
            #expect(throws: Errno.invalid) { try live.set("fileProtection", of: "Documents/c", to: "secret") }
            #expect(throws: Errno.noData) { try live.remove("fileProtection", from: "Documents/n") }
            try live.set("fileProtection", of: "Documents/c", to: "complete")
            try live.set("fileProtection", of: "Documents/n", to: "completeUnlessOpen")
            #expect(live.storedClass(of: "Documents/c") == "NSFileProtectionComplete")
            #expect(try live.protection(of: "Documents/c") == .complete)
            #expect(try live.protection(of: "Documents/n") == .completeUnlessOpen)
            #expect(live.volume.device.counters.protectionDenied == 3)
        }
    }

    /// The tree gets the class before the store does, and reverts it if the store fails.
    @Test func aClassThatCannotBeStoredIsNotInForce() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 1)
            try live.set("fileProtection", of: "Documents/f", to: "none")
            let setting = SystemCallFaults(after: 0, of: .setxattr, code: EIO).during {
                try live.set("fileProtection", of: "Documents/f", to: "complete")
            }
            #expect(setting.hits == 1)
            #expect(throws: Errno.ioError) { try setting.result.get() }
            #expect(try live.protection(of: "Documents/f") == FileProtection.none)
            let removing = SystemCallFaults(after: 0, of: .removexattr, code: EIO).during {
                try live.remove("fileProtection", from: "Documents/f")
            }
            #expect(removing.hits == 1 && (try? removing.result.get()) == nil)
            #expect(try live.protection(of: "Documents/f") == FileProtection.none)
        }
    }
}

/// The kernel's pages of a file when the device is locked.
struct ProtectedPagesTests {
    /// Runs `body` with a kernel that reads the volume's state while it drops pages. If the volume held its lock during the
    /// drop, this would deadlock.
    private func withKernel(_ body: (LiveVolume, FakeKernel) throws -> Void) throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            let volume = live.volume
            kernel.meanwhile(.dropping) { #expect(volume.device.state.restrictsData) }
            defer { kernel.meanwhile(.dropping, nil) }
            try body(live, kernel)
        }
    }

    /// The kernel drops pages of open files that may no longer be used, with or without a name, once for each file.
    @Test func pagesOfWhatIsOutOfReachAreDropped() throws {
        try withKernel { live, kernel in
            try live.makeDirectory("Documents/d")
            var handles: [Handle] = []
            var known: [FileProtection: UInt64] = [:]
            for protection in FileProtection.allCases {
                let path = "Documents/d/\(protection.rawValue)"
                try live.make(path, blocks: 1)
                try live.set("fileProtection", of: path, to: protection.rawValue)
                handles += [try live.open(path), try live.open(path, O_RDONLY)]
                known[protection] = handles[handles.count - 1].node.address
            }
            for name in ["closed", "nameless"] {
                try live.make("Documents/d/" + name, blocks: 1)
                try live.set("fileProtection", of: "Documents/d/" + name, to: "complete")
            }
            handles.append(try live.open("Documents/d/nameless"))
            try live.unlink("Documents/d/nameless")
            let nameless = handles[handles.count - 1].node.address

            let complete = try #require(known[.complete])
            let inactive = try #require(known[.completeWhenUserInactive])
            let firstUnlock = try #require(known[.completeUntilFirstUserAuthentication])
            try live.enter(.locking)
            #expect(kernel.takeCounts() == [:])
            try live.enter(.locked)
            #expect(kernel.takeCounts() == [complete: 1, nameless: 1])
            try live.enter(.inactive)
            #expect(kernel.takeCounts() == [complete: 1, inactive: 1, nameless: 1])
            try live.enter(.unlocked)
            #expect(kernel.takeCounts() == [:])
            try live.enter(.beforeFirstUnlock)
            #expect(kernel.takeCounts() == [complete: 1, inactive: 1, firstUnlock: 1, nameless: 1])
            for handle in handles { live.volume.close(handle) }
            try live.enter(.locked)
            #expect(kernel.takeCounts() == [:])
        }
    }

    /// The device locks after an open was admitted, but before the file is among the open files. The answer to the open then
    /// makes the kernel drop the file's pages.
    @Test func aFileThatIsBeingOpenedKeepsNoPages() throws {
        try withKernel { live, kernel in
            try live.make("Documents/f", blocks: 1)
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            let before = try live.open("Documents/f", O_RDONLY)
            #expect(before.keepsCache)
            live.volume.close(before)
            let node = try live.node("Documents/f")
            let opening = SystemCallFaults.running({ try? live.enter(.locked) }, before: .openat) {
                try live.volume.open(node, flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: false)
            }
            let handle = try opening.result.get()
            #expect(live.volume.device.state == .locked && kernel.takeCounts() == [:])
            #expect(!handle.keepsCache)
            #expect(throws: Errno.notPermitted) { _ = try live.read(handle) }
            live.volume.close(handle)
        }
    }

    /// The same for two opens at once. The kernel has no pages of the file, so a mapping of either handle has nothing to store.
    @Test func twoFilesThatAreBeingOpened() throws {
        try withKernel { live, kernel in
            try live.make("Documents/f", blocks: 1)
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            let node = try live.node("Documents/f")
            let second = Mutex<Handle?>(nil)
            @Sendable func open() throws(Errno) -> Handle {
                try live.volume.open(node, flags: O_RDWR, caller: LiveVolume.caller, offersPassthrough: false)
            }
            @Sendable func openSecond() {
                let opening = SystemCallFaults.running({ try? live.enter(.locked) }, before: .openat, in: open)
                second.withLock { $0 = try? opening.result.get() }
            }
            let opening = SystemCallFaults.running(
                { (try? WorkThread(name: "second", openSecond))?.join() }, before: .openat, in: open)
            let handles = [try opening.result.get(), try #require(second.withLock { $0 })]
            #expect(kernel.takeCounts() == [:])
            for handle in handles {
                #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 4096, isMapped: true) }
                live.volume.close(handle)
            }
        }
    }

    private func mode(_ live: LiveVolume, _ flags: Int32 = O_RDONLY) throws -> InputOutputMode {
        let handle = try live.volume.open(
            try live.node("Documents/f"), flags: flags, caller: LiveVolume.caller, offersPassthrough: true)
        defer { live.volume.close(handle) }
        return handle.mode
    }

    /// A file of a class that a lock takes is not passed through, because a read that the kernel serves without the daemon
    /// cannot be refused.
    @Test(arguments: FileProtection.allCases) func aFileThatALockTakesIsNotPassedThrough(
        protection: FileProtection
    ) throws {
        let isTaken = [FileProtection.complete, .completeWhenUserInactive].contains(protection)
        // Each case has a file of its own, because a file that was passed through stays so for a while.
        try withVolume { live in
            try live.make("Documents/f", blocks: 40)
            try live.set("fileProtection", of: "Documents/f", to: protection.rawValue)
            #expect(try mode(live) == (isTaken ? .cached : .passthrough))
        }
        try withVolume(settings: { device in
            LiveVolume.small(&device)
            device.protection = protection
        }) { live in
            try live.make("Documents/f", blocks: 40)
            #expect(try mode(live) == (isTaken ? .cached : .passthrough))
        }
    }

    /// While a file is passed through, the kernel requires passthrough for every further open. After the change of class, such
    /// an open sends its reads to the daemon all the same.
    @Test func whatWasPassedThroughBeforeItsClassStaysSo() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 40)
            let first = try live.volume.open(
                try live.node("Documents/f"), flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: true)
            try #require(first.mode == .passthrough)
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            #expect(try mode(live) == .passthroughDirect)
            live.volume.close(first)
            try live.awaitMappings(left: 0)
            #expect(try mode(live) == .cached)
        }
    }

    #if DEBUG
    /// While the device is unlocked, no class is looked up.
    @Test func anUnlockedDeviceTakesNoLockMore() throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.set("fileProtection", of: "Documents/f", to: "completeUnlessOpen")
            try live.write(handle, at: 0, 4096)
            func acquisitions() throws -> [Int] {
                try [{ _ = try live.read(handle) }, { _ = try live.write(handle, at: 0, 4096) }].map { body in
                    let before = live.volume.core.acquisitions
                    try body()
                    return live.volume.core.acquisitions - before
                }
            }
            #expect(try acquisitions() == [0, 2])
            let before = live.volume.core.changes
            _ = try acquisitions()
            let changes = live.volume.core.changes - before
            try live.enter(.locked)
            #expect(try acquisitions() == [1, 3])
            // An admitted call reads the state, and changes nothing more.
            let locked = live.volume.core.changes
            _ = try acquisitions()
            #expect(live.volume.core.changes - locked == changes)
        }
    }
    #endif
}

extension FakeKernel {
    /// Returns how often the kernel dropped each file's pages since the last call.
    fileprivate func takeCounts() -> [UInt64: Int] { takeDropped().reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}
