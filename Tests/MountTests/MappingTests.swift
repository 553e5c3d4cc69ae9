import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Writes through mappings, which are judged when the kernel writes their pages back (docs/RULES.md, Who may take
    /// what).
    @Suite struct MappingTests {
        private func map(_ file: OpenFile, _ length: Int, _ body: (UnsafeMutableRawPointer) throws -> Void) throws {
            guard let address = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
                address != MAP_FAILED
            else { throw Errno(errno) }
            defer { munmap(address, length) }
            try body(address)
        }

        @Test func mappedWritesAreCharged() throws {
            try withMount { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                try file.truncate(1 << 20)
                #expect(try mount.number("storage.used") == 0)
                try map(file, 1 << 20) { address in
                    for page in 0..<10 { address.storeBytes(of: 7, toByteOffset: page * 8192, as: UInt8.self) }
                    #expect(msync(address, 1 << 20, MS_SYNC) == 0)
                }
                #expect(try mount.number("storage.used") == 40960)
                #expect(try file.status().st_blocks == 80)
                file.close()
                try mount.remount()
                let content = try Files.content(mount.path("Documents/f"))
                #expect(content[8192] == 7 && content[4096] == 0 && content.count == 1 << 20)
                #expect(try mount.number("storage.used") == 40960)
            }
        }

        /// If room is short, msync(2) or fsync(2) fails, and the ledger still equals the store.
        @Test(arguments: [true, false]) func noRoom(bySync: Bool) throws {
            try withMount { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                try file.truncate(64 * 4096)
                try mount.takeAllFreeSpace()
                try mount.write("-16K", to: "storage.others")
                try map(file, 64 * 4096) { address in
                    for page in 0..<64 { address.storeBytes(of: 7, toByteOffset: page * 4096, as: UInt8.self) }
                    if bySync {
                        #expect(throws: Errno.noSpace) { try file.sync() }
                    } else {
                        #expect(msync(address, 64 * 4096, MS_SYNC) == -1 && errno == ENOSPC)
                    }
                }
                let used = try mount.number("storage.used")
                #expect(used <= 16384)
                #expect(try file.status().st_blocks * 512 == used)
                #expect(try mount.number("storage.available") == 16384 - used)
                file.close()
                try mount.remount()
                #expect(try mount.number("storage.used") == used)
            }
        }

        /// Writing back dirty pages of a file in a persistent place purges files to make room.
        @Test func mappedWritesPurge() throws {
            try withMount { mount in
                for number in 0..<8 { try mount.make("Library/Caches/f\(number)", size: 4096) }
                let file = try OpenFile(mount.path("Documents/f"))
                try file.truncate(4 * 4096)
                try mount.takeAllFreeSpace()
                try map(file, 4 * 4096) { address in
                    for page in 0..<4 { address.storeBytes(of: 7, toByteOffset: page * 4096, as: UInt8.self) }
                    #expect(msync(address, 4 * 4096, MS_SYNC) == 0)
                }
                #expect(try Files.names(in: mount.path("Library/Caches")) == ["f4", "f5", "f6", "f7"])
            }
        }

        /// Writing to a file without holes takes no room, so it works on a full device.
        @Test func overwritingInPlaceAlwaysWorks() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 64 * 4096)
                try mount.takeAllFreeSpace()
                let file = try OpenFile(mount.path("Documents/f"), O_RDWR)
                try map(file, 64 * 4096) { address in
                    memset(address, 9, 64 * 4096)
                    #expect(msync(address, 64 * 4096, MS_SYNC) == 0)
                }
                #expect(try file.read(3, at: 4095) == [9, 9, 9])
            }
        }

        /// A mapping keeps its file in use after the descriptor is closed.
        @Test func mappingsHoldTheFile() throws {
            try withMount { mount in
                try mount.make("Library/Caches/f", size: 8192)
                let file = try OpenFile(mount.path("Library/Caches/f"), O_RDWR)
                try map(file, 8192) { address in
                    file.close()
                    #expect(try mount.number("storage.reclaimable") == 0)
                    try mount.write("all", to: "storage.reclaim")
                    #expect(mount.exists("Library/Caches/f"))
                    #expect(address.load(fromByteOffset: 8191, as: UInt8.self) == 0xA7)
                }
                try eventually("it is let go") { try mount.number("storage.reclaimable") == 8192 }
            }
        }

        /// Reading holes through a mapping allocates and charges nothing.
        @Test(arguments: [Backing.ext4, .tmpfs]) func readingHolesIsFree(backing: Backing) throws {
            try withMount(on: backing) { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                try file.truncate(1 << 20)
                try map(file, 1 << 20) { address in
                    for page in 0..<256 { #expect(address.load(fromByteOffset: page * 4096, as: UInt8.self) == 0) }
                }
                file.close()
                #expect(try mount.number("storage.used") == 0)
                try mount.remount()
                #expect(try mount.number("storage.used") == 0)
            }
        }
    }
}
