import Glibc
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

struct ContainerWalkTests {
    private func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func seconds(forFiles count: Int) throws -> Double {
        var seconds = 0.0
        try SampleContainer.with { container in
            for number in 0..<count { close(creat(container.pathOf("\(number)"), 0o600)) }
            let begun = processorSeconds()
            let found = try container.walked()
            seconds = processorSeconds() - begun
            #expect(found.count == count + 1)
        }
        return seconds
    }

    /// The time grows linearly: eight times as many files take far less than 64 times as long.
    @Test func largeFolder() throws {
        let (few, many) = (try seconds(forFiles: 2_500), try seconds(forFiles: 20_000))
        #expect(many < 20 * few, "\(few) s, \(many) s")
    }

    /// Entries come in byte order, each folder before its content; a folder that the visitor declines is not entered.
    @Test func order() throws {
        try SampleContainer.with { container in
            for folder in ["b", "b/c", "a"] { try Files.makeDirectory(container.pathOf(folder)) }
            for file in ["b/z", "b/c/d", "a/x", "aa"] { try Files.write("", to: container.pathOf(file)) }
            let all = try container.walked().map { PathForm.text($0.path) }
            #expect(all == [".", "a", "a/x", "aa", "b", "b/c", "b/c/d", "b/z"])
            var found: [String] = []
            try ContainerWalk(source: container.source).run { (entry) throws(StoreError) in
                found.append(PathForm.text(entry.path))
                return entry.path != Array("b".utf8)
            }
            #expect(found == [".", "a", "a/x", "aa", "b"])
        }
    }

    /// Reading preserves the access times of folders and files.
    @Test func accessTimes() throws {
        try SampleContainer.with { container in
            try Files.makeDirectory(container.pathOf("d"))
            try Files.write("content", to: container.pathOf("d/f"))
            let past = timespec(tv_sec: 1_000_000_000, tv_nsec: 5)
            let paths = [container.path, container.pathOf("d"), container.pathOf("d/f")]
            for path in paths.reversed() {
                let opened = try FileDescriptor.open(path, O_RDONLY)
                try System.setTimes(opened.raw, access: past, modification: past)
            }
            let (reader, sink) = (try container.reader(), KeptData())
            for entry in try container.walked() { _ = try reader.read(entry, into: sink) }
            #expect(sink.bytes == Array("content".utf8))
            for path in paths {
                let status = try Files.status(path)
                #expect(status.st_atim.tv_sec == past.tv_sec, "\(path)")
            }
        }
    }

    /// The walk goes on if a folder disappears or is replaced after the walk finds it and before the walk enters it.
    @Test(arguments: ["", "file", "link"]) func replacedFolder(by kind: String) throws {
        try SampleContainer.with { container in
            for folder in ["a", "b"] { try Files.makeDirectory(container.pathOf(folder)) }
            try Files.write("", to: container.pathOf("b/x"))
            var found: [String] = []
            try ContainerWalk(source: container.source).run { (entry) throws(StoreError) in
                found.append(PathForm.text(entry.path))
                guard entry.path == Array("a".utf8) else { return true }
                rmdir(container.pathOf("a"))
                if kind == "file" { close(creat(container.pathOf("a"), 0o600)) }
                if kind == "link" { symlink("b", container.pathOf("a")) }
                return true
            }
            #expect(found == [".", "a", "b", "b/x"])
        }
    }
}
