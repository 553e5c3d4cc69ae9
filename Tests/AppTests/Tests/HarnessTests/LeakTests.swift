import ContainerTesting
import Foundation
import Testing

private let count = ProcessInfo.processInfo.environment["HARNESS_COUNT"].flatMap(Int.init) ?? 0

/// Many consecutive containers leak no descriptor, process or memory in the test process. The suite runs only if HARNESS_COUNT
/// is set to the number of containers, and then in a process of its own.
@Suite(.serialized, .enabled(if: count > 0)) struct LeakTests {
    private struct Holdings {
        var memory: Int
        /// Each descriptor and what it is, without the timers that Dispatch creates when it first needs them.
        var descriptors: Set<String>
        var children: String

        init() throws {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            memory = (pages.count > 1 ? Int(pages[1]) ?? 0 : 0) * 4096
            descriptors = Set(
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").map { name in
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                    return "\(name) \(target ?? "")"
                }
            ).filter { !$0.hasSuffix("anon_inode:[timerfd]") }
            children = try String(contentsOfFile: "/proc/self/task/\(getpid())/children", encoding: .utf8)
        }
    }

    @Test func manyInARow() async throws {
        try await use(count / 4 + 5)
        let before = try Holdings()
        try await use(count)
        let after = try Holdings()
        print("\(count) in a row: memory \(before.memory) then \(after.memory), descriptors \(after.descriptors.count)")
        let new = after.descriptors.subtracting(before.descriptors)
        #expect(after.descriptors.count <= before.descriptors.count, "\(new)")
        #expect(after.children == before.children)
        #expect(after.memory - before.memory < 4 << 20)
    }

    /// A file lock lasts until its last descriptor is closed. If a child inherited the descriptor, even just until its exec,
    /// the next attempts to lock the file would fail. A fault makes each exec take 100 ms.
    @Test func programsHaveNoFilesOfOthers() async throws {
        let folder = try Folder()
        try await withContainer(total: "64M") { container in
            let file = folder.path + "/lock"
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: container.documents.path + "/true")
            try container.fail("open@Documents/true=100ms")
            let (tries, failures) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                group.addTask {
                    var tries = 0
                    var failures = 0
                    while !Task.isCancelled {
                        let descriptor = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
                        tries += 1
                        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { failures += 1 }
                        close(descriptor)
                    }
                    return (tries, failures)
                }
                for _ in 0..<20 {
                    #expect(try await container.run([container.documents.path + "/true"]).status == 0)
                }
                group.cancelAll()
                return try await group.next() ?? (0, 0)
            }
            print("\(tries) locks: \(failures) failures")
            // A new program drops our descriptors with close_range(2), which on some kernels copies 64 of them and closes the
            // copies only just before it returns. If it waits for a CPU then, the attempts of some milliseconds fail.
            #expect(tries > 1000 && failures * 4 < tries)
        }
    }

    private func use(_ count: Int) async throws {
        for _ in 0..<count {
            try await withContainer(total: "64M") { container in
                try Data(count: 65536).write(to: container.caches.appendingPathComponent("a"))
                try container.purge(.caches)
                try await container.expectPurge(of: "Library/Caches/a")
                #expect(try await container.run(["true"]).status == 0)
            }
        }
    }
}
