import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Containers made with ordinary commands before the first mount: a store holds plain files and folders.
    @Suite struct HandMadeStoreTests {
        @Test(arguments: [Backing.ext4, .tmpfs, .xfs, .btrfs]) func plainFilesAreCountedAsTheyAre(backing: Backing)
            throws
        {
            try withMount(on: backing, mounted: false) { mount in
                let container = "\(mount.store)/container"
                try Program.shell(
                    """
                    mkdir -p '\(container)/Documents/d/e' '\(container)/Library/Caches' '\(container)/tmp' && cd '\(container)' &&
                    head -c 10000 /dev/zero > Documents/a && head -c 1 /dev/zero > Documents/d/e/b && : > Documents/empty &&
                    head -c 70000 /dev/zero > Library/Caches/c && ln Library/Caches/c Library/Caches/hard && ln -s a Documents/soft &&
                    truncate -s 1M Documents/sparse && mkfifo Documents/fifo && head -c 4096 /dev/zero > tmp/t
                    """
                ).succeeded()
                try mount.mount(["--total", "64M"])
                for (path, bytes) in [
                    ("Documents/a", 12_288), ("Documents/d/e/b", 4096), ("Documents/empty", 0), ("Documents/soft", 0),
                    ("Documents/sparse", 0), ("Documents/fifo", 0), ("Library/Caches/c", 73_728), ("tmp/t", 4096),
                    ("Documents", 0),
                ] as [(String, Int64)] {
                    #expect(try Files.charged(mount.path(path)) == bytes, "\(path)")
                }
                let status = try mount.status()
                #expect(status.storage.used == 12_288 + 4096 + 73_728 + 4096)
                #expect(status.tiers.caches == .init(bytes: 73_728, files: 1))
                #expect(status.tiers.temporary == .init(bytes: 4096, files: 1))
                #expect(status.storage.reclaimable == 4096, "a file with two names is not reclaimable")
                #expect(mount.exists("Library/Application Support") && mount.exists("Library/Preferences"))
                try mount.remount()
                #expect(try mount.number("storage.used") == status.storage.used)
            }
        }

        /// A container larger than the device is accepted, and only purgeable files are purged.
        @Test func moreThanThereIsRoomFor() throws {
            try withMount(mounted: false) { mount in
                let container = "\(mount.store)/container"
                try Program.shell(
                    """
                    mkdir -p '\(container)/Documents' '\(container)/tmp' && cd '\(container)' &&
                    head -c 3000000 /dev/zero > Documents/a && head -c 10000 /dev/zero > tmp/t
                    """
                ).succeeded()
                try mount.mount(["--total", "1M"])
                #expect(try mount.number("storage.available") == 0 && mount.number("storage.used") == 3_002_368)
                #expect(try Files.size(mount.path("Documents/a")) == 3_000_000)
                #expect(!mount.exists("tmp/t"))
            }
        }
    }
}
