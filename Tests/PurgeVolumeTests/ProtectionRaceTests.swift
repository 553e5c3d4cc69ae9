import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// The device is locked or rebooted while an entry gets another protection class.
struct ProtectionRaceTests {
    /// XATTR_CREATE
    private static let create: Int32 = 1

    struct Change: CustomTestStringConvertible, Sendable {
        var old: FileProtection
        var new: FileProtection
        var state: LockState
        /// Whether neither class is stricter in every respect: only the new class drops pages in some state, and only the old
        /// one refuses an open as soon as the device is locked. The pages take precedence.
        var isMixed: Bool {
            old == .completeUnlessOpen
                && [.completeUntilFirstUserAuthentication, .completeWhenUserInactive].contains(new)
        }
        var testDescription: String { "\(old) to \(new), \(state)" }
    }

    /// Every pair of classes, with every state that puts data out of reach.
    private static let changes = FileProtection.allCases.flatMap { old in
        FileProtection.allCases.flatMap { new in
            [LockState.locked, .inactive, .beforeFirstUnlock].map { Change(old: old, new: new, state: $0) }
        }
    }

    /// The call that sets the class fails after the device was locked. The file keeps its class, so the kernel must have
    /// dropped the pages that this class puts out of reach, and nobody can have opened the file meanwhile.
    @Test(arguments: changes) func aChangeThatFails(change: Change) throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            try live.make("Documents/f", blocks: 40)
            try live.set("fileProtection", of: "Documents/f", to: change.old.rawValue)
            let handle = try live.open("Documents/f")
            let node = handle.node
            var opened: Handle?
            let setting = SystemCallFaults.running(
                {
                    try? live.enter(change.state)
                    opened = try? live.open("Documents/f", O_RDONLY)
                }, before: .setxattr
            ) {
                // The file already has the attribute.
                try live.volume.extendedAttributes.set(
                    of: node, named: "user.purgefs.fileProtection", to: Array(change.new.rawValue.utf8),
                    flags: Self.create, caller: LiveVolume.caller)
            }
            #expect(throws: Errno.exists) { try setting.result.get() }
            #expect(live.volume.device.state == change.state)
            #expect(try live.protection(of: "Documents/f") == change.old)
            if !change.old.admits(.use, in: change.state) {
                #expect(kernel.dropped == [node.address])
            }
            if !change.old.admits(.open, in: change.state), !change.isMixed { #expect(opened == nil) }
            for open in [handle, opened] { if let open { live.volume.close(open) } }
        }
    }

    /// If the call works, the file has the new class, and the kernel has dropped the pages that this class puts out of reach.
    @Test(arguments: changes) func aChangeThatWorks(change: Change) throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            try live.make("Documents/f", blocks: 1)
            try live.set("fileProtection", of: "Documents/f", to: change.old.rawValue)
            let handle = try live.open("Documents/f")
            defer { live.volume.close(handle) }
            try SystemCallFaults.running({ try? live.enter(change.state) }, before: .setxattr) {
                try live.set("fileProtection", of: "Documents/f", to: change.new.rawValue)
            }.result.get()
            #expect(try live.protection(of: "Documents/f") == change.new)
            if !change.new.admits(.use, in: change.state) {
                #expect(kernel.dropped == [handle.node.address])
            }
        }
    }

    /// Until the new class is known to be stored, the kernel does not read the file without the daemon.
    @Test func aFileThatALockTakesIsNotPassedThroughMeanwhile() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 40)
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            let node = try live.node("Documents/f")
            var mode: InputOutputMode?
            try SystemCallFaults.running(
                {
                    let handle = try? live.volume.open(
                        node, flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: true)
                    mode = handle?.mode
                    if let handle { live.volume.close(handle) }
                }, before: .setxattr
            ) {
                try live.set("fileProtection", of: "Documents/f", to: "none")
            }.result.get()
            #expect(mode == .cached)
        }
    }
}
