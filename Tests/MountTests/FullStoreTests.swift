import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Deleting works even if the disk under the store has no room left, not even for a file's name.
    @Suite struct FullStoreTests {
        @Test(arguments: [true, false]) func filesCanBeDeletedWhereNothingCanBeMade(hasJournal: Bool) throws {
            try withMount(["--total", "64M"], on: .btrfs) { mount in
                mount.expectWarnings()
                try mount.make("Documents/big", size: 16 << 20)
                try mount.make("tmp/f", size: 4096)
                try mount.unmount()
                if !hasJournal { try Files.unlink("\(mount.store)/journal.sqlite") }
                try Program.shell(
                    """
                    sync && btrfs quota enable '\(mount.store)' && btrfs quota rescan -w '\(mount.store)' &&
                    btrfs qgroup limit 2M 0/5 '\(mount.store)'
                    """
                ).succeeded()
                #expect(throws: Errno(EDQUOT)) { try Files.make("\(mount.store)/container/new", size: 1) }
                try mount.mount()
                // An existing journal can be opened, but the first write to it fails.
                let word = hasJournal ? "the journal cannot be written" : "warning"
                try eventually(word) { mount.log.contains(word) }
                try Files.unlink(mount.path("Documents/big"))
                #expect(try mount.number("storage.used") == 4096)
                try mount.write("tmp", to: "storage.reclaim")
                #expect(try mount.number("storage.used") == 0)
                try Program.shell("btrfs qgroup limit none 0/5 '\(mount.store)'").succeeded()
                // The journal has caught up with the pending events.
                #expect(try mount.purgesAfterUnmount().paths == ["tmp/f"])
            }
        }
    }
}
