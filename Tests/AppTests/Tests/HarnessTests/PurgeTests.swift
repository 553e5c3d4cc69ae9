import ContainerTesting
import Foundation
import Testing

/// The purges that satisfy `expectPurge`, and the behaviour when a reader misses events.
@Suite(.container) struct PurgeTests {
    let container: Container
    private let file: URL

    init() throws {
        container = try #require(Container.current)
        file = container.caches.appendingPathComponent("photo")
    }

    private func keep() throws { try Data(count: 4096).write(to: file) }

    private func isMissed(after position: Int? = nil) -> Bool {
        do {
            try container.expectPurge(of: file, after: position, within: .zero)
            return false
        } catch ContainerError.notPurged { return true } catch { return false }
    }

    @Test func aPurgeAnswersOneCall() throws {
        try keep()
        try container.purge(.caches)
        try container.expectPurge(of: file)
        try keep()  // the app fetches the file again
        #expect(isMissed())
        try container.purge(.caches)
        try container.expectPurge(of: file)
        #expect(isMissed())
    }

    @Test func purgesAfterAPosition() throws {
        try keep()
        try container.purge(.caches)
        let position = try container.position
        #expect(isMissed(after: position))
        #expect(try container.events(.purge, after: position) == [])
        let error = #expect(throws: ContainerError.self) {
            try container.expectPurge(of: file, after: position, within: .zero)
        }
        #expect(error?.description.contains("does not count: it is not after event \(position)") == true)
        try keep()
        try container.purge(.caches)
        #expect(try container.expectPurge(of: file, after: position).seq > position)
    }

    @Test func purgesDuringAnAction() throws {
        try keep()
        try container.purge(.caches)
        try keep()
        #expect(throws: ContainerError.self) { try container.expectPurge(of: file, within: .zero) {} }
        try container.expectPurge(of: file) { try container.purge(.caches) }
    }

    /// An open file loses its name, and is charged until it is closed.
    @Test func purgesOpenFiles() throws {
        try keep()
        let open = try FileHandle(forUpdating: file)
        #expect(try container.purge(.caches).isEmpty)
        #expect(try container.purge(.caches, evenOpen: true).map(\.path) == ["Library/Caches/photo"])
        try keep()
        let other = try FileHandle(forUpdating: file)
        #expect(try container.purge(paths: [file], evenOpen: true).map(\.bytes) == [0])
        #expect(try container.numbers.used == 8192)
        try open.close()
        try other.close()
        #expect(try container.numbers.used == 0)
        #expect(throws: ContainerError.self) { try container.purge(.all, evenOpen: true) }
    }

    /// Waiting blocks no thread, because the purging tasks need the threads of the concurrency pool.
    @Test func manyWaitAtOnce() async throws {
        let files = (0..<64).map { container.caches.appendingPathComponent("\($0)") }
        for file in files { try Data(count: 1).write(to: file) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for file in files {
                group.addTask {
                    try await container.expectPurge(of: file, within: .seconds(60)) {
                        try await Task.sleep(for: .milliseconds(1))
                        Task { try container.purge(paths: [file]) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try container.events(.purge).count == 64)
    }

    /// No event is lost if there are more than fit into the one MiB that the mount buffers for slow readers.
    @Test(.container(total: "1G", thresholds: .off)) func moreEventsThanAReaderIsTold() throws {
        let count = try purgeMany()
        #expect(try container.events(.dropped) == [])
        let numbers = try container.events(.purge).map(\.seq)
        #expect(numbers.count == count && numbers == numbers.sorted() && Set(numbers).count == count)
        try container.expectPurge(of: "Library/Caches/thumbnail-0", within: .zero)
    }

    @Test(.container(total: "1G", thresholds: .off)) func eventsThatAreLost() throws {
        try container.write("journal.size", "0")
        let count = try purgeMany()
        let told = try container.events(.purge).count
        let missed = try container.events(.dropped).compactMap { $0.reason?.split(separator: " ").first }.compactMap {
            Int($0)
        }
        #expect(missed.reduce(told, +) == count)
        let error = #expect(throws: ContainerError.self) {
            try container.expectPurge(of: "Library/Caches/thumbnail-0", within: .zero)
        }
        guard case .eventsMissed("Library/Caches/thumbnail-0", let number, _) = error else {
            return #expect(error == nil)
        }
        #expect(number == missed.reduce(0, +))
        #expect(error?.description.contains("was not purged") == false)
    }

    private func purgeMany() throws -> Int {
        let count = 6000
        for number in 0..<count {
            let file = open(
                container.path + "/Library/Caches/thumbnail-\(number)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
            _ = write(file, "x", 1)
            close(file)
        }
        _ = try container.events()
        try container.purge(.caches)
        return count
    }
}
