import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// Calls during a rename of the directory that they concern, or of one above it. The kernel does not order them.
struct MovedDirectoryTests {
    struct Change: Sendable {
        let call: SystemCall.Name
        let make: @Sendable (LiveVolume, Node) throws -> Void
    }
    static let changes: [Change] = [
        Change(call: .fchmodat) { live, node in try live.change(node, nil) { $0.mode = 0o700 } },
        Change(call: .fchownat) { live, node in try live.change(node, nil) { $0.owner = 1 } },
        Change(call: .utimensat) { live, node in
            try live.change(node, nil) { $0.modificationTime = timespec(tv_sec: 1000, tv_nsec: 0) }
        },
        Change(call: .setxattr) { live, node in
            try live.volume.extendedAttributes.set(
                of: node, named: "user.purgefs.isPurgeable", to: Array("low".utf8), flags: 0, caller: LiveVolume.caller)
        },
    ]

    /// A change reaches the directory that was looked up, even if another directory gets its name right before the system call.
    @Test(arguments: changes.indices) func aChangeReachesTheRightDirectory(at index: Int) throws {
        try withVolume { live in
            let change = Self.changes[index]
            try live.makeDirectory("Documents/A")
            try live.makeDirectory("Documents/B")
            try live.make("Documents/B/kept", blocks: 1)
            let before = try Self.facts(live.stored("Documents/B"))
            let node = try live.node("Documents/A")
            let exchange = { _ = try? live.rename("Documents/A", "Documents/B", flags: 2) }
            // The call goes by name, or through the directory's own descriptor.
            let own: SystemCall.Name =
                switch change.call {
                case .fchmodat: .fchmod
                case .fchownat: .fchown
                case .utimensat: .futimens
                default: change.call
                }
            var outcome = SystemCallFaults.running(exchange, before: change.call) { try change.make(live, node) }
            try outcome.result.get()
            if outcome.hits == 0 {
                outcome = SystemCallFaults.running(exchange, before: own) { try change.make(live, node) }
                try outcome.result.get()
            }
            #expect(outcome.hits == 1)
            // The former B now has the name A.
            #expect(try Self.facts(live.stored("Documents/A")) == before)
            #expect(try Self.facts(live.stored("Documents/B")) != before)
        }
    }

    private struct Facts: Equatable {
        let mode: mode_t
        let owner: uid_t
        let modified: Int
        let attributes: Int
    }
    private static func facts(_ path: String) throws -> Facts {
        let file = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
        let status = try System.status(file.raw)
        return Facts(
            mode: status.st_mode, owner: status.st_uid, modified: status.st_mtim.tv_sec,
            attributes: try System.attributeNames(
                at: file.raw, nil, into: UnsafeMutableBufferPointer(start: nil, count: 0)))
    }

    /// A call that misses its directory in the store waits for the rename under way. Here the rename resumes only once the call
    /// has missed the directory.
    @Test func aCallWaitsForARenameUnderWay() throws {
        let (isMoved, isMissed, isBack) = (Gate(), Gate(), Gate())
        let kernel = FakeKernel(on: .slowWork) {
            guard isMoved.generation > 0 else { return }
            isMissed.advance()
            isBack.wait(while: 0)
        }
        try withVolume(port: kernel) { live in
            try live.makeDirectory("Documents/A")
            try live.make("Documents/A/f", blocks: 1)
            let (old, new) = (live.stored("Documents/A"), live.stored("Documents/moved"))
            let node = try live.node("Documents/A")
            let access = live.volume.lookups.access
            let mover = try WorkThread(name: "mover") {
                do throws(Errno) {
                    try access.moving(
                        { () throws(Errno) in
                            Glibc.rename(old, new)
                            isMoved.advance()
                            isMissed.wait(while: 0)
                            Glibc.rename(new, old)
                            isBack.advance()
                        }, then: { _ in })
                } catch { Issue.record("\(error)") }
            }
            isMoved.wait(while: 0)
            #expect(throws: Never.self) { try live.volume.attributes(of: node) }
            #expect(isMissed.generation == 1)
            isMissed.advance()
            mover.join()
            #expect(live.exists("Documents/A/f"))
        }
    }

    /// While nothing moves, waiting would not bring an entry back, so the call fails after a few attempts.
    @Test func whatSomebodyHasRemovedFromTheStoreIsNotWaitedFor() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/A")
            for number in 0..<200 { try live.make("Documents/A/\(number)", blocks: 0) }
            for number in 0..<200 { Glibc.unlink(live.stored("Documents/A/\(number)")) }
            let outcome = SystemCallFaults.none.during {
                for number in 0..<200 {
                    #expect(throws: Errno.stale) { try live.node("Documents/A/\(number)") }
                }
            }
            try outcome.result.get()
            // Each entry is asked for three times at most, and the folders above it once.
            #expect(outcome.calls.filter { $0 == .fstatat }.count <= 200 * 5)
        }
    }

    /// A removed folder is held by a descriptor that needs no permission to read it.
    @Test func aRemovedFolderThatMayNotBeReadCanBeChanged() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/A")
            let folder = try live.node("Documents")
            let node = try live.volume.lookup("A", in: folder, caller: LiveVolume.caller).node
            // The descriptors of the folders above are already open.
            let refused = SystemCallFaults(after: 0, of: .openat, code: EACCES)
            let outcome = refused.during { try live.removeDirectory("Documents/A") }
            try outcome.result.get()
            #expect(outcome.hits == 1)
            try live.change(node, nil) { $0.mode = 0o711 }
            #expect(try live.volume.attributes(of: node).status.st_mode & 0o777 == 0o711)
            live.volume.forget(node, count: 1)
        }
    }
}
