import ContainerTesting
import Foundation
import Testing

/// A program in a container never outlives its time limit, its test, or the test process.
@Suite struct RunTests {
    @Test func timeLimit() async throws {
        try await withContainer(total: "64M") { container in
            let words = ["sh", "-c", "echo begun; sleep 1000; echo done"]
            let error = await #expect(throws: ContainerError.self) {
                try await container.run(words, timeLimit: .milliseconds(300))
            }
            guard case .tookTooLong(words, .milliseconds(300), let outcome) = error else {
                return #expect(error == nil)
            }
            #expect(outcome.status == 143 && outcome.output == "begun\n" && outcome.errors == "")
            #expect(error?.description.contains("give it more time with `timeLimit:`") == true)
            #expect(running(in: container) == [])
        }
    }

    @Test(.container) func timeLimitWithoutAwait() throws {
        let container = try #require(Container.current)
        #expect(throws: ContainerError.self) {
            try container.run(["sh", "-c", "trap '' TERM; sleep 1000; sleep 1000"], timeLimit: .milliseconds(300))
        }
        #expect(running(in: container) == [])
    }

    @Test func cancelled() async throws {
        try await withContainer(total: "64M") { container in
            let task = Task { try await container.run(["sh", "-c", "touch ~/tmp/begun; sleep 1000"]) }
            while !FileManager.default.fileExists(atPath: container.path + "/tmp/begun") {
                try await Task.sleep(for: .milliseconds(5))
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(running(in: container) == [])
        }
    }

    /// The end of the container ends even processes in other sessions.
    @Test func whatIsLeftRunning() async throws {
        let container = try await withContainer(total: "64M") { container in
            let script = "cd /; setsid sleep 1000 & sleep 1000 & echo $!"
            let outcome = try await container.run(["sh", "-c", script])
            let pid = try #require(pid_t(outcome.output.dropLast()))
            #expect(kill(pid, 0) == 0)
            return container
        }
        #expect(running(in: container) == [])
    }

    /// Even processes with an empty environment end, if they are in the program's process group.
    @Test func whatHasNoEnvironment() async throws {
        let pid = try await withContainer(total: "64M") { container in
            let outcome = try await container.run(["sh", "-c", "cd /; env -i sleep 1000 >/dev/null & echo $!"])
            let pid = try #require(pid_t(outcome.output.dropLast()))
            #expect(kill(pid, 0) == 0)
            let script = "cd /; (trap '' TERM; env -i sleep 1000) & echo $!; sleep 1000"
            let error = await #expect(throws: ContainerError.self) {
                try await container.run(["sh", "-c", script], timeLimit: .seconds(2))
            }
            guard case .tookTooLong(_, _, let cut) = error else { throw CancellationError() }
            try await ends(try #require(pid_t(cut.output.dropLast())))
            return pid
        }
        try await ends(pid)
    }

    /// Waits for the end of a process, which may remain as a zombie.
    private func ends(_ process: pid_t) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while FileManager.default.contents(atPath: "/proc/\(process)/cmdline")?.isEmpty == false {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func endOfTheProcess() async throws {
        let folder = try Folder()
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            setenv("TMPDIR", path + "/tmp", 1)
            try withContainer(total: "64M") { container in
                let script = "cd /; (setsid sleep 1000; echo) & sleep 0.2; kill -KILL \(getpid()); sleep 1000; echo"
                _ = try container.run(["sh", "-c", script])
            }
        }
        try await folder.becomesEmpty("tmp")
        #expect(processes { $0.contains(path) } == [])
    }

    private func running(in container: Container) -> [String] {
        processes { $0.contains("PURGEFS_MOUNT=\(container.path)\0") && $0.contains("sleep") }
    }

    /// Returns the processes whose command line or environment matches.
    private func processes(_ isMeant: (String) -> Bool) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.filter { Int($0) != nil }.compactMap { name in
            let texts = ["cmdline", "environ"].map {
                FileManager.default.contents(atPath: "/proc/\(name)/\($0)") ?? Data()
            }
            let text = texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\0")
            return isMeant(text) ? text : nil
        }
    }
}
