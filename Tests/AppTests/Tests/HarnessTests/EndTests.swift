import ContainerTesting
import Foundation
import Testing

/// A container ends with its test, however the test ends, and leaves nothing behind.
@Suite struct EndTests {
    @Test func twentyAtOnce() async throws {
        let barrier = Barrier(20)
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await withContainer(total: .mebibytes(64 + number)) { container in
                        try Data("\(number)".utf8).write(to: container.documents.appendingPathComponent("a"))
                        await barrier.wait()
                        #expect(try container.numbers.total == (64 + number) << 20)
                        let written = try Data(contentsOf: container.documents.appendingPathComponent("a"))
                        #expect(written == Data("\(number)".utf8))
                        return container.path
                    }
                }
            }
            var paths: Set<String> = []
            for try await path in group {
                paths.insert(path)
                #expect(!FileManager.default.fileExists(atPath: path))
            }
            #expect(paths.count == 20)
        }
    }

    /// SIGTERM and SIGKILL end the test process in the middle; `purgefs run` notices and ends by itself.
    @Test func endOfTheProcess() async throws {
        for signal in [SIGTERM, SIGKILL] {
            let folder = try Folder()
            let path = folder.path
            await #expect(processExitsWith: .signal(signal)) { [path = path as String, signal = signal as Int32] in
                setenv("TMPDIR", path + "/tmp", 1)
                try withContainer(total: "64M") { container in
                    try Data(count: 4096).write(to: container.documents.appendingPathComponent("a"))
                    try Data(container.path.utf8).write(to: URL(fileURLWithPath: path + "/path"))
                    kill(getpid(), signal)
                    sleep(60)
                }
            }
            let container = try String(contentsOfFile: path + "/path", encoding: .utf8)
            #expect(container.hasPrefix(path))
            try await folder.becomesEmpty("tmp")
            #expect(!FileManager.default.fileExists(atPath: container))
            let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
            #expect(!mounts.contains(path))
        }
    }

    @Test func stillInUse() throws {
        var file: Int32 = -1
        let error = #expect(throws: ContainerError.self) {
            try withContainer(total: "64M") { container in
                file = open(container.path + "/Documents/a", O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
            }
        }
        guard case .stillInUse(let said) = error else { return #expect(error == nil) }
        #expect(said.contains("\(getpid())"))
        #expect(write(file, "x", 1) == -1 && errno == ENOTCONN)
        close(file)
    }

    @Test func useAfterItsEnd() throws {
        let container = try withContainer(total: "64M") { container in
            try Data(count: 1).write(to: container.tmp.appendingPathComponent("a"))
            try purgeTmp(of: container)
            return container
        }
        #expect(container.hasEnded)
        #expect(throws: ContainerError.ended(container.path)) { try container.fill(leaving: 0) }
        #expect(throws: ContainerError.ended(container.path)) { try container.lock() }
        #expect(throws: ContainerError.ended(container.path)) { try container.status }
        #expect(throws: ContainerError.ended(container.path)) { try container.run(["true"]) }
        #expect(throws: ContainerError.ended(container.path)) { try container.mark("tmp", excluded: true) }
        #expect(throws: ContainerError.ended(container.path)) { try container.attribute("tier", of: "tmp") }
        #expect(try container.events(.purge).map(\.path) == ["tmp/a"])
        try container.end()
    }

    @Test func nested() async throws {
        try await withContainer(total: "64M") { outer in
            try await withContainer(total: "32M") { inner in
                #expect(Container.current === inner && outer !== inner)
                let totals = [try outer.numbers.total, try inner.numbers.total]
                #expect(totals == [64 << 20, 32 << 20])
            }
            #expect(Container.current === outer)
        }
        #expect(Container.current == nil)
    }

    @Test func cancelled() async throws {
        let paths = AsyncStream.makeStream(of: String.self)
        let task = Task {
            try await withContainer(total: "64M") { container in
                paths.continuation.yield(container.path)
                try await Task.sleep(for: .seconds(600))
            }
        }
        var path = ""
        for await each in paths.stream.prefix(1) { path = each }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(path != "" && !FileManager.default.fileExists(atPath: path))
    }

    /// A body may use state that belongs to its actor or is not Sendable.
    @MainActor @Test func onAnActor() async throws {
        final class Unshared { var count = 0 }
        let unshared = Unshared()
        let result = try await withContainer(total: "64M") { container in
            MainActor.assertIsolated()
            unshared.count += try container.numbers.total
            return unshared
        }
        #expect(result.count == 64 << 20)
    }

    @Test(arguments: try await withContainer(total: "64M") { [($0, try $0.numbers.total)] })
    func inTheArguments(container: Container, total: Int) { #expect(container.hasEnded && total == 64 << 20) }

    @Test func lastReference() async throws {
        let folder = try Folder()
        let container = try Container(Container.Settings(total: "64M")).path
        while FileManager.default.fileExists(atPath: container) { try await Task.sleep(for: .milliseconds(5)) }
        withExtendedLifetime(folder) {}
    }

    @Test func noContainer() throws {
        let error = #expect(throws: ContainerError.self) { try Container(Container.Settings(total: "much")) }
        #expect(error?.description.contains("--total") == true)
        let refused = #expect(throws: ContainerError.self) { try Container(Container.Settings(thresholds: "much")) }
        #expect(refused == .refused("storage.thresholds", "much", EINVAL))
    }

    @Test func noProgram() async {
        await #expect(processExitsWith: .success) {
            setenv("PURGEFS", "/no/purgefs", 1)
            let error = #expect(throws: ContainerError.self) { try Container() }
            #expect(error == .noProgram("/no/purgefs", "No such file or directory"))
            #expect(error?.description.contains("The variable PURGEFS names the binary") == true)
        }
    }
}

/// Releases its waiters when all have arrived.
actor Barrier {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { missing = count }

    func wait() async {
        missing -= 1
        if missing > 0 { return await withCheckedContinuation { waiting.append($0) } }
        waiting.forEach { $0.resume() }
    }
}

/// Purges tmp, and retries while a concurrent exit test briefly keeps a file open.
func purgeTmp(of container: Container) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while try container.purge(.tmp).isEmpty { try #require(ContinuousClock.now < deadline) }
}

/// A temporary folder with an empty `tmp` in it.
final class Folder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("ends-\(UUID())").path

    init() throws {
        try FileManager.default.createDirectory(atPath: path + "/tmp", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func becomesEmpty(_ name: String) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let left = try FileManager.default.contentsOfDirectory(atPath: path + "/" + name)
            if left.isEmpty { return }
            try #require(ContinuousClock.now < deadline, "\(left)")
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
