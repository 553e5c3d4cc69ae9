import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Operations that count as a use of a file, and the order of files that were used at the same moment.
    @Suite struct PurgeRecencyTests {
        /// An operation on the file `a` after `a`, `b` and `c` were written, and whether it makes `a` the last victim.
        struct Use: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let counts: Bool
            let act: @Sendable (TestMount, OpenFile) throws -> Void
            init(_ name: String, counts: Bool, _ act: @escaping @Sendable (TestMount, OpenFile) throws -> Void) {
                testDescription = name
                self.counts = counts
                self.act = act
            }
        }
        private static let a = "Library/Caches/a"

        static let uses = [
            Use("open to read", counts: true) { mount, _ in try mount.touch(a) },
            Use("write through an old descriptor", counts: true) { _, file in _ = try file.write(100, at: 0) },
            Use("open to write", counts: true) { mount, _ in try OpenFile(mount.path(a), O_WRONLY).close() },
            Use("open to read without an access time", counts: false) { mount, _ in
                try OpenFile(mount.path(a), O_RDONLY | System.openNoAccessTime).close()
            },
            Use("open to write without an access time", counts: true) { mount, _ in
                try OpenFile(mount.path(a), O_RDWR | System.openNoAccessTime).close()
            },
            Use("written anew", counts: true) { mount, _ in try mount.make(a, size: 4096) },
            Use("read through an old descriptor", counts: false) { _, file in _ = try file.read(4096) },
            Use("truncate through an old descriptor", counts: false) { _, file in try file.truncate(4000) },
            Use("truncate by path", counts: false) { mount, _ in try Files.truncate(mount.path(a), 4000) },
            Use("fallocate", counts: false) { _, file in try file.allocate(Allocate.plain, 0, 4096) },
            Use("stat", counts: false) { mount, _ in _ = try Files.status(mount.path(a)) },
            Use("chmod", counts: false) { mount, _ in try Files.changeMode(mount.path(a), 0o600) },
            Use("utimes", counts: false) { mount, _ in utimes(mount.path(a), nil) },
            Use("xattr", counts: false) { mount, _ in try Attributes.set(mount.path(a), "user.x", "y") },
            Use("mark of the same urgency", counts: false) { mount, _ in try mount.mark(a, "low") },
            Use("link and unlink", counts: false) { mount, _ in
                try Files.link(mount.path(a), mount.path("Library/Caches/x"))
                try Files.unlink(mount.path("Library/Caches/x"))
            },
            Use("rename there and back", counts: false) { mount, _ in
                try Files.rename(mount.path(a), mount.path("Documents/a"))
                try Files.rename(mount.path("Documents/a"), mount.path(a))
            },
            Use("refused write", counts: false) { mount, file in
                try mount.takeAllFreeSpace()
                #expect(throws: Errno.noSpace) { try file.write(4096, at: 4096) }
            },
            Use("mapped write", counts: true) { _, file in
                guard let map = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
                    map != MAP_FAILED
                else { throw Errno(errno) }
                map.storeBytes(of: 1, as: UInt8.self)
                #expect(msync(map, 4096, MS_SYNC) == 0)
                munmap(map, 4096)
            },
        ]

        @Test(arguments: uses, [false, true]) func leastRecentlyUsedFirst(use: Use, remounted: Bool) throws {
            try withMount { mount in
                let file = try OpenFile(mount.path(Self.a))
                try file.fill(4096)
                for name in ["b", "c"] { try mount.make("Library/Caches/\(name)", size: 4096) }
                try use.act(mount, file)
                file.close()
                if remounted { try mount.remount() }
                try mount.write("12K", to: "storage.reclaim")
                let order = use.counts ? ["b", "c", "a"] : ["a", "b", "c"]
                #expect(try mount.purgesAfterUnmount().paths == order.map { "Library/Caches/\($0)" })
            }
        }

        /// If two files were last used at the same moment, the larger goes first; files of equal size go in the order of
        /// their paths. No two calls happen at the same moment, so the test changes the journal.
        @Test func largerThenPath() throws {
            try withMount { mount in
                try mount.makeDirectory("Library/Caches/q")
                for name in ["m", "b", "q/a", "large", "c"] {
                    try mount.make("Library/Caches/\(name)", size: name == "large" ? 8192 : 4096)
                }
                try mount.unmount()
                let sameMoment =
                    "UPDATE last_uses SET last_use = (SELECT max(last_use) FROM last_uses); SELECT changes();"
                let changed = try Program.run("sqlite3", "\(mount.store)/journal.sqlite", sameMoment).succeeded()
                #expect(changed == "5\n")
                try mount.mount()
                try mount.write("all", to: "storage.reclaim")
                let order = ["large", "b", "c", "m", "q/a"].map { "Library/Caches/\($0)" }
                #expect(try mount.purgesAfterUnmount().paths == order)
            }
        }

        /// Purging skips open and hard-linked files until they are closed and have only one name.
        @Test func openFilesAndHardLinksArePassedOver() throws {
            try withMount { mount in
                for name in ["open", "linked", "plain"] { try mount.make("Library/Caches/\(name)", size: 4096) }
                try Files.link(mount.path("Library/Caches/linked"), mount.path("tmp/second"))
                let open = try OpenFile(mount.path("Library/Caches/open"), O_RDONLY)
                try mount.write("all", to: "storage.reclaim")
                #expect(mount.exists("Library/Caches/open") && mount.exists("Library/Caches/linked"))
                #expect(mount.exists("tmp/second") && !mount.exists("Library/Caches/plain"))
                #expect(try open.read(4096).count == 4096)
                #expect(throws: Errno.tryAgain) { try mount.write("4K", to: "storage.reclaim") }
                open.close()
                try Files.unlink(mount.path("tmp/second"))
                try mount.write("8K", to: "storage.reclaim")
                #expect(try Files.names(in: mount.path("Library/Caches")) == [])
            }
        }

        /// Empty files and links free no space. A reclaim by size skips them, and a command for their place or for everything
        /// purges them.
        @Test func emptyFilesAndLinksGoByCommandOnly() throws {
            try withMount { mount in
                for place in ["tmp", "Library/Caches"] {
                    try mount.make("\(place)/empty", size: 0)
                    try mount.make("\(place)/full", size: 4096)
                    try Files.symlink("nowhere", mount.path("\(place)/link"))
                    try mount.makeDirectory("\(place)/folder")
                }
                #expect(throws: Errno.tryAgain) { try mount.write("1M", to: "storage.reclaim") }
                let left = ["empty", "folder", "link"]
                #expect(try Files.names(in: mount.path("tmp")) == left)
                #expect(try Files.names(in: mount.path("Library/Caches")) == left)
                try mount.write("tmp", to: "storage.reclaim")
                #expect(try Files.names(in: mount.path("tmp")) == ["folder"])
                #expect(try Files.names(in: mount.path("Library/Caches")) == left)
                try mount.write("all", to: "storage.reclaim")
                #expect(try Files.names(in: mount.path("Library/Caches")) == ["folder"])
            }
        }
    }
}
