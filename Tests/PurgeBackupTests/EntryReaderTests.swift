import Glibc
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

struct EntryReaderTests {
    /// The first name is gone before it is read, so the second name carries the file.
    @Test func firstNameIsGone() throws {
        try SampleContainer.with { container in
            try Files.write("data", to: container.pathOf("a"))
            for name in ["b", "c"] { try #require(link(container.pathOf("a"), container.pathOf(name)) == 0) }
            let entries = try ["a", "b", "c"].map(container.entry)
            try Files.unlink(container.pathOf("a"))
            let (reader, sink) = (try container.reader(), KeptData())
            let found = try entries.map { try reader.read($0, into: sink)?.type }
            #expect(found == [nil, .file, .hardLink])
            #expect(sink.records.map(\.path) == [[0x62], [0x63]] && sink.records.last?.link == [0x62])
        }
    }

    /// While the file is read under its first name, it changes and that name is removed. The backup has the file under its
    /// second name only.
    @Test func firstNameGoesWhileItIsRead() throws {
        try SampleContainer.with { container in
            try Files.write("data", to: container.pathOf("a"))
            try #require(link(container.pathOf("a"), container.pathOf("b")) == 0)
            let entries = try ["a", "b"].map(container.entry)
            let (reader, sink) = (try container.reader(), KeptData())
            let change: () -> Void = {
                try? Files.write("other data", to: container.pathOf("b"))
                unlink(container.pathOf("a"))
            }
            let outcome = SystemCallFaults.running(change, before: .pread) {
                try entries.map { try reader.read($0, into: sink)?.type }
            }
            let found = try outcome.result.get()
            #expect(found == [nil, .file] && sink.bytes == Array("other data".utf8))
        }
    }

    /// A further name is refused as a hard link if its file has changed since it was read under the first name.
    @Test func furtherNameOfAnotherFile() throws {
        try SampleContainer.with { container in
            try Files.write("data", to: container.pathOf("a"))
            try #require(link(container.pathOf("a"), container.pathOf("b")) == 0)
            let (reader, sink) = (try container.reader(), KeptData())
            _ = try reader.read(try container.entry("a"), into: sink)
            try Files.write("other data", to: container.pathOf("b"))
            let other = try container.entry("b")
            #expect(throws: StoreError.self) { try reader.read(other, into: sink) }
        }
    }

    private func read(_ container: SampleContainer, _ name: String, _ sink: KeptData) throws -> ManifestEntry? {
        try container.reader().read(try container.entry(name), into: sink)
    }

    /// A small file that changes while it is read is read again.
    @Test(arguments: [0, 1, 2]) func growingFile(readings: Int) throws {
        try SampleContainer.with { container in
            let path = container.pathOf("a")
            try Files.write("first", to: path)
            let (reader, entry, sink) = (try container.reader(), try container.entry("a"), KeptData())
            let outcome = SystemCallFaults.running(
                { try? Files.write("second, longer", to: path) }, before: .pread, after: readings
            ) { try reader.read(entry, into: sink) }
            let found = try outcome.result.get()
            #expect(found?.size == (readings < 2 ? 14 : 5))
            #expect(sink.bytes == Array((readings < 2 ? "second, longer" : "first").utf8))
        }
    }

    /// A file that was replaced after the walk, as programs do when they save, is read as it is now.
    @Test func replacedFile() throws {
        try SampleContainer.with { container in
            try Files.write("first", to: container.pathOf("a"))
            let (reader, entry, sink) = (try container.reader(), try container.entry("a"), KeptData())
            try Files.write("second, longer", to: container.pathOf("new"))
            try Files.rename(container.pathOf("new"), container.pathOf("a"))
            let found = try reader.read(entry, into: sink)
            #expect(found?.size == 14 && sink.bytes == Array("second, longer".utf8))
        }
    }

    /// An entry that is no longer a file does not block the reader, and is not mistaken for a file.
    @Test func fileThatIsAFIFONow() throws {
        try SampleContainer.with { container in
            try Files.write("first", to: container.pathOf("a"))
            let (reader, entry, sink) = (try container.reader(), try container.entry("a"), KeptData())
            try Files.unlink(container.pathOf("a"))
            try #require(mkfifo(container.pathOf("a"), 0o600) == 0)
            #expect(throws: StoreError.self) { try reader.read(entry, into: sink) }
            #expect(sink.records.isEmpty)
        }
    }

    /// Gives `body` a file with a page that was changed through a mapping and is not written back yet. Further changes to the
    /// page do not update the modification time.
    private func withMapping(
        size: Int, _ body: (SampleContainer, UnsafeMutableRawPointer) throws -> Void
    ) throws {
        try SampleContainer.with { container in
            let file = try FileDescriptor.open(container.pathOf("a"), O_RDWR | O_CREAT, mode: 0o600)
            try file.writeAll([UInt8](repeating: 1, count: size))
            try System.sync(file.raw)
            let mapping = try #require(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.raw, 0))
            try #require(mapping != MAP_FAILED)
            defer { munmap(mapping, size) }
            mapping.storeBytes(of: 2, as: UInt8.self)
            let past = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
            try System.setTimes(file.raw, access: past, modification: past)
            try body(container, mapping)
        }
    }

    @Test func smallFileChangedThroughAMapping() throws {
        try withMapping(size: 100) { (container, mapping) in
            let (reader, entry, sink) = (try container.reader(), try container.entry("a"), KeptData())
            let outcome = SystemCallFaults.running(
                { mapping.storeBytes(of: 3, as: UInt8.self) }, before: .pread, after: 1
            ) { try reader.read(entry, into: sink) }
            _ = try outcome.result.get()
            #expect(outcome.hits == 1 && sink.bytes == [3] + [UInt8](repeating: 1, count: 99))
        }
    }

    @Test func largeFileChangedThroughAMapping() throws {
        try withMapping(size: 9 << 20) { (container, mapping) in
            let (reader, entry) = (try container.reader(), try container.entry("a"))
            let sink = KeptData { mapping.storeBytes(of: 3, as: UInt8.self) }
            #expect(throws: StoreError.self) { try reader.read(entry, into: sink) }
        }
    }

    /// Holes stay holes, and all data keeps its position.
    @Test(arguments: [3 << 20, 9 << 20]) func holes(size: Int) throws {
        try SampleContainer.with { container in
            let file = try FileDescriptor.open(container.pathOf("a"), O_RDWR | O_CREAT, mode: 0o600)
            try System.truncate(file.raw, Int64(size))
            var expected = [UInt8](repeating: 0, count: size)
            for (offset, byte) in [(1 << 20, UInt8(5)), (size - 1, 6)] {
                try withUnsafeBytes(of: byte) {
                    try #require(try System.pwrite(file.raw, $0, offset: Int64(offset)) == 1)
                }
                expected[offset] = byte
            }
            let sink = KeptData()
            let found = try read(container, "a", sink)
            var checksum = Checksum()
            checksum.add(expected)
            #expect(sink.bytes == expected && found?.crc32 == checksum.text)
            #expect(sink.records.first?.hasHoles == true)
        }
    }
}
