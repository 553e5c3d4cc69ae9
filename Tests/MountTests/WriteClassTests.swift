import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The class of a write follows from the file's names and marks at the moment of the call, not at the open
    /// (docs/RULES.md, Who may take what).
    @Suite struct WriteClassTests {
        /// Runs `body` on a full device, where only an important write can make room, by purging up to 40 KiB.
        private func withFullDevice(_ body: (TestMount) throws -> Void) throws {
            try withMount { mount in
                for number in 0..<10 { try mount.make("Library/Caches/c\(number)", size: 4096) }
                try mount.makeDirectory("Documents/marked")
                try mount.mark("Documents/marked", "low")
                try mount.takeAllFreeSpace()
                try body(mount)
            }
        }
        private func isImportant(_ file: OpenFile) throws -> Bool {
            let size = try Int64(file.status().st_size + 4095) / 4096 * 4096
            do {
                _ = try file.write(1, at: size)
                return true
            } catch {
                guard error == .noSpace else { throw error }
                return false
            }
        }

        @Test func renameWhileOpen() throws {
            try withFullDevice { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                for (place, important) in [
                    ("tmp", false), ("Library/Preferences", true), ("Library/Caches", false),
                    ("Documents/marked", false), ("", true),
                ] {
                    let now = try #require(
                        ["Documents/f", "tmp/f", "Library/Preferences/f", "Library/Caches/f", "Documents/marked/f"]
                            .first { mount.exists($0) })
                    try Files.rename(mount.path(now), mount.path(place.isEmpty ? "f" : "\(place)/f"))
                    #expect(try isImportant(file) == important, "in \(place)")
                }
            }
        }

        @Test func marksWhileOpen() throws {
            try withFullDevice { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                #expect(try isImportant(file))
                try mount.mark("Documents/f", "high")
                #expect(try !isImportant(file))
                try mount.mark("Documents/f", "0")
                #expect(try isImportant(file))
                try mount.mark("Documents", "low")
                #expect(try isImportant(file), "the nearest own value wins")
                try Attributes.remove(mount.path("Documents/f"), "user.purgefs.isPurgeable")
                #expect(try !isImportant(file))
                try Attributes.remove(mount.path("Documents"), "user.purgefs.isPurgeable")
                #expect(try isImportant(file))
            }
        }

        /// A hard-linked file has the most durable tier of its names, and only its own mark.
        @Test func severalNames() throws {
            try withFullDevice { mount in
                let file = try OpenFile(mount.path("Library/Caches/f"))
                #expect(try !isImportant(file))
                try Files.link(mount.path("Library/Caches/f"), mount.path("Documents/marked/f"))
                #expect(try isImportant(file), "an inherited mark is not its own")
                #expect(try mount.capacity(at: "Library/Caches/f").available == mount.number("storage.important"))
                try Files.unlink(mount.path("Documents/marked/f"))
                #expect(try !isImportant(file))
                try Files.link(mount.path("Library/Caches/f"), mount.path("tmp/f"))
                #expect(try Attributes.text(mount.path("tmp/f"), "user.purgefs.tier") == "caches")
            }
        }

        /// An unlinked file keeps its last class.
        @Test func unlinkedFiles() throws {
            try withFullDevice { mount in
                let important = try OpenFile(mount.path("Documents/f"))
                let other = try OpenFile(mount.path("Documents/marked/f"))
                try Files.unlink(mount.path("Documents/f"))
                try Files.unlink(mount.path("Documents/marked/f"))
                #expect(try isImportant(important) && !isImportant(other))
                #expect(try mount.number("storage.used") == 40960)
                important.close()
                #expect(try mount.number("storage.used") == 36864)
            }
        }

        /// A write takes as much as fits, and purges for just that. The next write fails with ENOSPC and purges nothing.
        @Test func shortWrites() throws {
            try withFullDevice { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                #expect(try file.write(6 * 4096) == 6 * 4096)
                #expect(try file.write(20 * 4096) == 4 * 4096)
                #expect(throws: Errno.noSpace) { try file.write(1) }
                #expect(try Files.names(in: mount.path("Library/Caches")) == [])
                try mount.write("-5000", to: "storage.others")
                let late = try OpenFile(mount.path("tmp/f"))
                #expect(try late.write(3 * 4096) == 4096)
                #expect(throws: Errno.noSpace) { try late.write(1) }
                #expect(try late.write(4096, at: 0) == 4096)
            }
        }

        /// Only the blocks of a write that do not exist yet count.
        @Test func onlyNewBlocksCount() throws {
            try withFullDevice { mount in
                let file = try OpenFile(mount.path("tmp/f"))
                try mount.write("-8K", to: "storage.others")
                _ = try file.write(4096, at: 4096)
                _ = try file.write(4096, at: 3 * 4096)
                #expect(try file.write(4096, at: 4096) == 4096)
                #expect(try file.write(100, at: 5000) == 100)
                #expect(throws: Errno.noSpace) { try file.write(4096, at: 2 * 4096) }
                #expect(try file.write(3 * 4096, at: 4096) == 4096, "up to the hole")
                #expect(try file.status().st_blocks == 16)
                try file.truncate(1 << 20)
                #expect(try file.status().st_blocks == 16, "growing allocates nothing")
                try file.allocate(Allocate.punchHole, 4096, 4096)
                #expect(try file.write(1, at: 2 * 4096 + 5) == 1)
            }
        }

        /// An allocation gets all its blocks or none, and purges nothing if it fails.
        @Test func allocationIsAllOrNothing() throws {
            try withFullDevice { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                for mode in [Allocate.plain, Allocate.keepSize, Allocate.zeroRange] {
                    #expect(throws: Errno.noSpace) { try file.allocate(mode, 0, 10 * 4096 + 1) }
                }
                #expect(try file.status().st_blocks == 0 && file.status().st_size == 0)
                #expect(try Files.names(in: mount.path("Library/Caches")).count == 10)
                try file.allocate(Allocate.plain, 0, 4 * 4096)
                #expect(try Files.names(in: mount.path("Library/Caches")) == (4..<10).map { "c\($0)" })
                #expect(try file.write(4 * 4096, at: 0) == 4 * 4096, "into what was allocated")
                #expect(try Files.names(in: mount.path("Library/Caches")).count == 6)
            }
        }

        /// Names, marks, folders and empty files need no blocks, so they are never refused for space.
        @Test func whatNeedsNoBlocks() throws {
            try withFullDevice { mount in
                try mount.make("Documents/empty", size: 0)
                try mount.makeDirectory("Documents/folder")
                try Files.symlink("x", mount.path("Documents/link"))
                try Files.link(mount.path("Documents/empty"), mount.path("Documents/second"))
                try mount.mark("Documents/empty", "high")
                try Attributes.set(mount.path("Documents/empty"), "user.x", [UInt8](repeating: 1, count: 1000))
                try Files.rename(mount.path("Library/Caches/c0"), mount.path("Documents/c0"))
                try Files.truncate(mount.path("Documents/empty"), 1 << 30)
                #expect(try mount.number("storage.used") == 40960)
            }
        }

        /// statvfs of each kind of place: the root, folders, files, and paths in a marked tree.
        @Test func statvfsByPlace() throws {
            try withMount(["--total", "64M", "--others", "16M", "--others-purgeable", "1M"]) { mount in
                try mount.makeDirectory("Documents/marked")
                try mount.makeDirectory("Documents/marked/deep")
                try mount.mark("Documents/marked", "medium")
                try mount.make("Documents/marked/own", size: 4096)
                try mount.mark("Documents/marked/own", "0")
                try mount.make("Library/Caches/f", size: 8192)
                try mount.mark("Library/Caches/f", "0")
                let free: Int64 = (48 << 20) - 12_288
                let (important, opportunistic) = (free + (1 << 20) + 8192, free - 6_713_344)
                for (place, value) in [
                    ("", free), ("Documents", important), ("Documents/marked", opportunistic),
                    ("Documents/marked/deep", opportunistic),
                    ("Documents/marked/own", important), ("Library", important), ("Library/Caches", opportunistic),
                    ("Library/Caches/f", opportunistic), ("tmp", opportunistic),
                ] {
                    let capacity = try mount.capacity(at: place)
                    #expect(capacity.available == value, "\(place)")
                    #expect(
                        capacity.free == max(value, free) && capacity.total == 64 << 20 && capacity.unit == 4096,
                        "\(place)")
                }
            }
        }
    }
}
