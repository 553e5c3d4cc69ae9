import Glibc
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// The file system under a store has no room for an attribute, because of the file or because the disk is full.
struct AttributeRoomTests {
    private func withVolume(on backing: Backing, _ body: (LiveVolume) throws -> Void) throws {
        try Scratch.with("attribute") { scratch in
            let place = try BackingDirectory(backing, in: scratch.path)
            let result = Result {
                let live = try LiveVolume("\(place.path)/store")
                try live.make("Documents/f", blocks: 0)
                try body(live)
            }
            // A process that another test starts holds our descriptors for a moment.
            try eventually("it can be unmounted") { (try? place.release()) != nil }
            try result.get()
        }
    }

    /// Every file system here has free space. On ext4, and on overlayfs, which may lie on ext4, ENOSPC then means that the file
    /// has no room for the attribute. On the others it counts as a full disk.
    @Test(arguments: [
        (Backing.ext4, E2BIG), (.overlayfs, E2BIG), (.btrfs, EIO), (.xfs, EIO), (.tmpfs, EIO),
    ]) func theBackingSaysThatItIsFull(backing: Backing, answer: Int32) throws {
        try withVolume(on: backing) { live in
            for name in ["isPurgeable", "user.a"] {
                let faults = SystemCallFaults(after: 0, of: .setxattr, code: ENOSPC)
                let outcome = faults.during { try live.set(name, of: "Documents/f", to: "1") }
                let error = #expect(throws: Errno.self) { try outcome.result.get() }
                #expect(error?.code == answer)
                #expect(outcome.hits == 1)
            }
            let told = try live.events(.hostFull).count
            #expect((told > 0) == (answer == EIO))
        }
    }

    /// A value that is too large for any file does not mean a full disk.
    @Test(arguments: [Backing.ext4, .btrfs]) func aValueThatIsTooLarge(backing: Backing) throws {
        try withVolume(on: backing) { live in
            let value = String(repeating: "x", count: 40_000)
            #expect(throws: Errno.argListTooLong) { try live.set("user.a", of: "Documents/f", to: value) }
            if backing == .btrfs {
                try live.set("user.a", of: "Documents/f", to: String(value.prefix(16_222)))
                let larger = String(value.prefix(16_223))
                #expect(throws: Errno.argListTooLong) { try live.set("user.a", of: "Documents/f", to: larger) }
            }
            #expect(try live.events(.hostFull).isEmpty)
        }
    }
}
