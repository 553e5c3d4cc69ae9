import Glibc
import PurgeSystem
import Support
import Testing

/// A mapped file of 256 KiB. The first descriptor decides whether the kernel reads the file without the daemon.
private struct MappedFile {
    static let size = 256 << 10
    static let reach = 4 << 20

    enum First: CaseIterable { case reading, writing }
    enum Kind: CaseIterable { case sharedWriting, sharedReading, privately }

    struct Way: CustomStringConvertible {
        var first: First
        var kind: Kind
        var isClosed: Bool
        var description: String { "first for \(first), \(kind)\(isClosed ? ", closed" : "")" }

        static let all = First.allCases.flatMap { first in
            Kind.allCases.flatMap { kind in [false, true].map { Way(first: first, kind: kind, isClosed: $0) } }
        }

        /// Returns six ways on ext4, and twice PURGEFS_TEST_SCALE of them on other file systems, at least one. `make long`
        /// takes all on ext4. The first two differ in the first descriptor and in whether the descriptors are closed, and the
        /// first six have each kind twice.
        static func some(on backing: Backing) -> [Way] {
            let count = backing != .ext4 ? Scale.of(2) : Scale.factor < 1 ? 6 : all.count
            // Five and twelve are coprime, so each way comes once.
            return (0..<min(all.count, count)).map { all[(1 + 5 * $0) % all.count] }
        }
    }

    let address: UnsafeMutableRawPointer
    let files: [OpenFile]
    let stores: Bool

    init(_ path: String, _ way: Way) throws {
        let reader = way.first == .reading ? try OpenFile(path, O_RDONLY) : nil
        let mapped = try OpenFile(path, way.kind == .sharedReading && reader != nil ? O_RDONLY : O_RDWR)
        let access = way.kind == .sharedReading ? PROT_READ : PROT_READ | PROT_WRITE
        let sharing = way.kind == .privately ? MAP_PRIVATE : MAP_SHARED
        guard let address = mmap(nil, Self.reach, access, sharing, mapped.descriptor, 0), address != MAP_FAILED else {
            throw Errno(errno)
        }
        self.address = address
        stores = way.kind == .sharedWriting
        files = [reader, mapped].compactMap { $0 }
        if way.isClosed { close() }
    }

    func close() { files.forEach { $0.close() } }
    func unmap() { munmap(address, Self.reach) }

    func byte(at offset: Int) -> UInt8 { address.load(fromByteOffset: offset, as: UInt8.self) }

    /// Stores `value` into each page of a range, if the mapping allows it.
    func store(_ value: UInt8, pages: Range<Int>) {
        guard stores else { return }
        for page in pages { address.storeBytes(of: value, toByteOffset: page * 4096 + 9, as: UInt8.self) }
        msync(address, Self.reach, MS_SYNC)
    }
}

extension Mounts {
    /// Mappings of files that the kernel reads without the daemon. Such a file counts as open until its last mapping is
    /// gone.
    @Suite struct PassthroughMappingTests {
        private static let size = Int64(MappedFile.size)
        /// Without overlayfs: leases do not reveal mappings there, so the daemon passes nothing through.
        private static let backings = [Backing.ext4, .xfs, .btrfs, .tmpfs]

        /// Runs `body` for each way of mapping a file. Expects the numbers and the store to agree afterwards, after the
        /// last unmapping, and after a remount.
        private func inEachWay(
            on backing: Backing, named name: String = "Documents/f",
            _ body: (TestMount, String, MappedFile) throws -> Void
        ) throws {
            for way in MappedFile.Way.some(on: backing) {
                try withMount(on: backing) { mount in
                    try mount.turnThresholdsOff()
                    try mount.make(name, size: MappedFile.size)
                    let file = try MappedFile(mount.path(name), way)
                    do {
                        defer {
                            file.close()
                            file.unmap()
                        }
                        try body(mount, name, file)
                        try expectWhole(mount, "\(way)")
                    } catch { Issue.record("\(way): \(error)") }
                    let used = try mount.number("storage.used")
                    try expectWhole(mount, "\(way), unmapped")
                    try mount.remount()
                    #expect(try mount.number("storage.used") == used, "\(way), remounted")
                }
            }
        }

        /// Expects that the store holds at most the charged bytes, and that the charges fit the device.
        private func expectWhole(_ mount: TestMount, _ way: String) throws {
            let used = try mount.number("storage.used")
            #expect(try mount.number("storage.others") + used <= 64 << 20, "\(way)")
            #expect(try Files.chargedTree(mount.root) <= used, "\(way)")
            let held = try heldByFiles("\(mount.store)/container")
            #expect(held <= used, "\(way): the store holds \(held) bytes, \(used) are charged")
        }

        /// Returns the bytes that the files of a store hold on the backing disk. XFS may keep empty blocks behind the
        /// end of a growing file for an unlimited time, so a file on XFS counts at most its length.
        private func heldByFiles(_ container: String) throws -> Int64 {
            let isXFS = Files.fileSystemType(container) == 0x5846_5342
            return try Files.tree(container).reduce(0) { sum, path in
                let status = try Files.status("\(container)/\(path)")
                guard status.st_mode & S_IFMT != S_IFDIR else { return sum }
                let length = (Int64(status.st_size) + 4095) / 4096 * 4096
                return sum + min(Int64(status.st_blocks) * 512, isXFS ? length : .max)
            }
        }

        /// Passthrough works on each backing if it works on ext4. Without it, these tests cover only mappings of the
        /// page cache.
        @Test func filesArePassedThroughOnEachBacking() throws {
            let isPossible = try isPassedThrough(on: .ext4)
            for backing in Self.backings { #expect(try isPassedThrough(on: backing) == isPossible, "\(backing)") }
        }

        /// Returns whether a byte that changes in the store shows in a page that is mapped already.
        private func isPassedThrough(on backing: Backing) throws -> Bool {
            try withMount(on: backing) { mount in
                try mount.make("Documents/f", size: MappedFile.size)
                let file = try MappedFile(
                    mount.path("Documents/f"), .init(first: .reading, kind: .sharedReading, isClosed: true))
                defer { file.unmap() }
                #expect(file.byte(at: 4097) == 0xA7)
                let stored = try OpenFile("\(mount.store)/container/Documents/f", O_RDWR)
                defer { stored.close() }
                #expect(try stored.write([0x11], at: 4097) == 1)
                return file.byte(at: 4097) == 0x11
            }
        }

        @Test(arguments: backings) func purge(backing: Backing) throws {
            try inEachWay(on: backing, named: "Library/Caches/f") { mount, name, file in
                #expect(try mount.number("storage.reclaimable") == 0)
                try mount.write("all", to: "storage.reclaim")
                #expect(mount.exists(name))
                #expect(file.byte(at: 4097) == 0xA7)
                file.close()
                file.unmap()
                #expect(try mount.number("storage.reclaimable") == Self.size)
                #expect(try mount.capacity(at: "Documents").available == 64 << 20)
                try mount.write("all", to: "storage.reclaim")
                #expect(!mount.exists(name))
            }
        }

        @Test(arguments: backings) func unlink(backing: Backing) throws {
            try inEachWay(on: backing) { mount, name, file in
                try Files.unlink(mount.path(name))
                #expect(try mount.number("storage.used") == Self.size)
                file.store(3, pages: 0..<64)
                #expect(file.byte(at: 4097) == 0xA7)
                file.close()
                #expect(try mount.number("storage.used") == Self.size)
                file.unmap()
                #expect(try mount.number("storage.used") == 0)
                #expect(try mount.capacity(at: "Documents").available == 64 << 20)
            }
        }

        @Test(arguments: backings) func rename(backing: Backing) throws {
            try inEachWay(on: backing) { mount, name, file in
                try mount.make("tmp/new", size: 4096)
                try Files.rename(mount.path(name), mount.path("Library/Caches/f"))
                #expect(try mount.table("storage.stat")["caches.bytes"] == Self.size)
                try Files.rename(mount.path("tmp/new"), mount.path("Library/Caches/f"))
                #expect(try mount.number("storage.used") == Self.size + 4096)
                #expect(file.byte(at: 4097) == 0xA7)
                file.close()
                file.unmap()
                #expect(try mount.number("storage.used") == 4096)
            }
        }

        @Test(arguments: backings) func truncate(backing: Backing) throws {
            try inEachWay(on: backing) { mount, name, file in
                try Files.truncate(mount.path(name), 4096)
                #expect(try mount.number("storage.used") == 4096)
                try Files.truncate(mount.path(name), 1 << 20)
                #expect(file.byte(at: 4096) == 0)
                file.store(3, pages: 0..<256)
                try expectSame(mount.path(name), file, 1 << 20)
            }
        }

        @Test(arguments: backings) func punchAndKeepSize(backing: Backing) throws {
            try inEachWay(on: backing) { mount, name, file in
                let writer = try OpenFile(mount.path(name), O_RDWR)
                try writer.allocate(Allocate.punchHole, 8192, 16384)
                #expect(file.byte(at: 8192) == 0)
                file.store(3, pages: 0..<64)
                try expectWhole(mount, "punched")
                try writer.allocate(Allocate.keepSize, 1 << 20, 1 << 20)
                #expect(try writer.status().st_size == MappedFile.size)
                try writer.truncate(3 << 20)
                file.store(4, pages: 0..<768)
                try expectSame(mount.path(name), file, 3 << 20)
                #expect(try writer.write(4096, at: (4 << 20) - 4096) == 4096)
                file.store(5, pages: 0..<1024)
                try expectSame(mount.path(name), file, 4 << 20)
                try writer.allocate(Allocate.punchHole, 0, 64 << 20)
                #expect(file.byte(at: 0) == 0)
            }
        }

        @Test(arguments: backings) func writeAndRead(backing: Backing) throws {
            try inEachWay(on: backing) { mount, name, file in
                file.store(3, pages: 0..<64)
                try expectSame(mount.path(name), file, MappedFile.size)
                let writer = try OpenFile(mount.path(name), O_RDWR)
                #expect(try writer.write([1, 2, 3], at: 12287) == 3)
                #expect((12287..<12290).map { file.byte(at: $0) } == [1, 2, 3])
                file.store(4, pages: 3..<4)
                #expect(try writer.read(1, at: 12297) == [file.byte(at: 12297)])
                try expectSame(mount.path(name), file, MappedFile.size)
            }
        }

        /// Expects read(2) to return the content of the mapping.
        private func expectSame(_ path: String, _ file: MappedFile, _ size: Int) throws {
            let content = try Files.content(path)
            #expect(content.count == size)
            #expect(content.elementsEqual(UnsafeRawBufferPointer(start: file.address, count: size)))
        }

        /// A file whose mapping has outlived its descriptors can be extended only to the device's limit. The mapping can then
        /// fill it.
        @Test(arguments: backings) func neverOverTheLimit(backing: Backing) throws {
            try withMount(on: backing) { mount in
                try mount.turnThresholdsOff()
                try mount.make("Documents/f", size: 32 << 20)
                let path = mount.path("Documents/f")
                let reader = try OpenFile(path, O_RDONLY)
                let writer = try OpenFile(path, O_RDWR)
                let length = 96 << 20
                let address = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, writer.descriptor, 0)
                let mapped = try #require(address)
                defer { munmap(mapped, length) }
                reader.close()
                writer.close()
                try Files.truncate(path, 0)
                #expect(throws: Errno.noSpace) { try Files.truncate(path, 96 << 20) }
                try Files.truncate(path, 48 << 20)
                #expect(try mount.number("storage.used") == 48 << 20)
                memset(mapped, 7, 48 << 20)
                #expect(msync(mapped, 48 << 20, MS_SYNC) == 0)
                try expectWhole(mount, "stored")
            }
        }

        /// Waits until the coarse clock, from which the times of files come, has passed the current moment.
        private func awaitTickOfFileTimes() throws {
            var (now, tick) = (timespec(), timespec())
            clock_gettime(CLOCK_REALTIME, &now)
            try eventually("a tick") {
                clock_gettime(CLOCK_REALTIME_COARSE, &tick)
                return (tick.tv_sec, tick.tv_nsec) > (now.tv_sec, now.tv_nsec)
            }
        }

        /// A store through the mapping updates mtime and last use at once. On tmpfs it does not update mtime.
        @Test(arguments: backings.filter { $0 != .tmpfs }) func storesAreUse(backing: Backing) throws {
            try withMount(on: backing) { mount in
                for name in ["a", "b"] { try mount.make("Library/Caches/\(name)", size: MappedFile.size) }
                let path = mount.path("Library/Caches/a")
                let file = try MappedFile(path, .init(first: .reading, kind: .sharedWriting, isClosed: true))
                try mount.touch("Library/Caches/b")
                try mount.setModificationTime(of: "Library/Caches/a", seconds: 1_000_000_000)
                let before = try Files.status(path).st_mtim.tv_sec
                #expect(before == 1_000_000_000)
                try awaitTickOfFileTimes()
                file.store(3, pages: 0..<1)
                #expect(try Files.status(path).st_mtim.tv_sec > before)
                file.unmap()
                try mount.write("4096", to: "storage.reclaim")
                #expect(try Files.names(in: mount.path("Library/Caches")) == ["a"])
            }
        }

        /// Setting times and truncating a file do not count as use.
        @Test(arguments: backings) func otherChangesOfTheTimeAreNoUse(backing: Backing) throws {
            try withMount(on: backing) { mount in
                for name in ["a", "b"] { try mount.make("Library/Caches/\(name)", size: MappedFile.size) }
                let path = mount.path("Library/Caches/a")
                let file = try MappedFile(path, .init(first: .reading, kind: .sharedWriting, isClosed: true))
                try mount.touch("Library/Caches/b")
                try awaitTickOfFileTimes()
                #expect(utimensat(AT_FDCWD, path, nil, 0) == 0)
                try Files.truncate(path, Self.size - 4096)
                file.unmap()
                try mount.write("4096", to: "storage.reclaim")
                #expect(try Files.names(in: mount.path("Library/Caches")) == ["b"])
            }
        }

        /// Unmapping an unlinked file frees its space for the next write without a request for the file.
        @Test(arguments: backings) func unmappingFreesWithoutBeingAsked(backing: Backing) throws {
            try withMount(on: backing) { mount in
                try mount.turnThresholdsOff()
                try mount.make("Documents/f", size: MappedFile.size)
                let file = try MappedFile(
                    mount.path("Documents/f"), .init(first: .reading, kind: .sharedReading, isClosed: true))
                try Files.unlink(mount.path("Documents/f"))
                try mount.takeAllFreeSpace()
                let other = try OpenFile(mount.path("Documents/g"))
                #expect(throws: Errno.noSpace) { try other.write(4096) }
                file.unmap()
                #expect(try other.write(MappedFile.size) == MappedFile.size)
            }
        }

        /// What was closed and unmapped counts as closed, although a thread that has answered an earlier call has not run since.
        /// strace lets every 29th answer return late.
        @Test func threadsThatReturnLateHoldNothingOpen() throws {
            try withMount(on: .tmpfs) { mount in
                try mount.unmount()
                let late = "inject=write,writev:delay_exit=12000:when=5+29"
                let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=write,writev", "-e", late]
                try mount.mount(["--total", "64M"], wrapper: strace)
                let name = "Library/Caches/f"
                for round in 0..<150 {
                    try mount.make(name, size: MappedFile.size)
                    let file = try MappedFile(
                        mount.path(name), .init(first: .reading, kind: .sharedReading, isClosed: round % 2 == 0))
                    #expect(try mount.number("storage.reclaimable") == 0)
                    file.close()
                    file.unmap()
                    try #require(try mount.number("storage.reclaimable") == Self.size, "round \(round)")
                    try Files.unlink(mount.path(name))
                }
            }
        }

        /// Unmapping a file releases its descriptor in the daemon, so that a program can open other files.
        @Test(arguments: backings) func whatIsUnmappedTakesNoDescriptors(backing: Backing) throws {
            try withMount(on: backing) { mount in
                try mount.unmount()
                try mount.mount(["--total", "64M"], wrapper: ["prlimit", "--nofile=256:256"])
                let names = (0..<240).map { "Documents/f\($0)" }
                for name in names { try mount.make(name, size: MappedFile.size) }
                let mapped = try names.prefix(140).map {
                    try MappedFile(mount.path($0), .init(first: .reading, kind: .sharedReading, isClosed: true))
                }
                for file in mapped { file.unmap() }
                let open = try names.suffix(100).map { try OpenFile(mount.path($0), O_RDONLY) }
                #expect(open.count == 100)
            }
        }

        /// Maps more files than are passed through at a time. For the rest, the kernel sends no RELEASE before the unmapping.
        @Test func moreMappingsThanAreRemembered() throws {
            try withMount(["--total", "1G"]) { mount in
                try mount.turnThresholdsOff()
                let names = (0..<1040).map { "Library/Caches/f\($0)" }
                for name in names { try mount.make(name, size: MappedFile.size) }
                let files = try names.map {
                    try MappedFile(mount.path($0), .init(first: .reading, kind: .sharedWriting, isClosed: true))
                }
                for file in files { file.store(3, pages: 0..<1) }
                try mount.write("all", to: "storage.reclaim")
                #expect(try Files.names(in: mount.path("Library/Caches")).count == names.count)
                for name in names { try Files.unlink(mount.path(name)) }
                #expect(try mount.number("storage.used") == Self.size * Int64(names.count))
                #expect(files.allSatisfy { $0.byte(at: 9) == 3 && $0.byte(at: 4097) == 0xA7 })
                for file in files { file.unmap() }
                try eventually("the charge of what is mapped no longer") {
                    try mount.number("storage.used") == 0
                }
            }
        }
    }
}

extension TestMount {
    fileprivate func setModificationTime(of relative: String, seconds: Int) throws(Errno) {
        let omit = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
        let times = [omit, timespec(tv_sec: seconds, tv_nsec: 0)]
        if utimensat(AT_FDCWD, path(relative), times, 0) != 0 { throw Errno(errno) }
    }
}
