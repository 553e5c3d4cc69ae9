import ContainerTesting
import Foundation
import Testing

/// The loss of a container during a test fails the test, even if the test does not use the container afterwards.
@Suite struct LossTests {
    @Test(arguments: 0..<10) func daemonKilled(number: Int) throws {
        let error = #expect(throws: ContainerError.self) {
            try withContainer(total: "64M") { container in try killDaemon(of: container, isGone: number % 2 == 0) }
        }
        switch error {
        case .lost: break
        case .endedBadly(125, let said): #expect(said.contains("the container is gone"))
        default: #expect(error == nil)
        }
    }

    /// The loss is found even if `purgefs run` reports no status for its lost daemon.
    @Test func daemonKilledAndNoStatus() async throws {
        let folder = try Folder()
        let path = folder.path
        try "#!/bin/sh\n\"$REAL_PURGEFS\" \"$@\" 2>/dev/null\nexit 0\n".write(
            toFile: path + "/purgefs", atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path + "/purgefs")
        await #expect(processExitsWith: .success) { [path = path as String] in
            setenv("REAL_PURGEFS", ProcessInfo.processInfo.environment["PURGEFS"] ?? "purgefs", 1)
            setenv("PURGEFS", path + "/purgefs", 1)
            try withContainer { _ in }
            let error = #expect(throws: ContainerError.self) {
                try withContainer { container in try killDaemon(of: container, isGone: true) }
            }
            guard case .lost(let place, "") = error else { return #expect(error == nil) }
            #expect(error?.description.contains("its daemon was killed or it was unmounted: \(place)") == true)
        }
    }

    /// A container whose daemon is suspended by SIGSTOP fails its test. Ending the container kills the daemon.
    @Test(arguments: [false, true]) func daemonStopped(withItsRun: Bool) async throws {
        let error = await #expect(throws: ContainerError.self) {
            try await withContainer(total: "64M") { container in
                let daemon = try daemon(of: container)
                if withItsRun { kill(try parent(of: daemon), SIGSTOP) }
                try stop(daemon)
            }
        }
        guard case .endedBadly(125, let said) = error else { return #expect(error == nil) }
        #expect(said.contains("the daemon did not answer (was it stopped?) and was killed: "))
    }

    /// Evidence that was collected earlier is available after the daemon stops answering.
    @Test func evidenceOfOneThatDoesNotAnswer() async throws {
        let container = try Container(Container.Settings(total: "64M"))
        try Data(count: 1).write(to: container.tmp.appendingPathComponent("a"))
        try purgeTmp(of: container)
        try await container.expectPurge(of: "tmp/a")
        try stop(try daemon(of: container))
        let evidence = ContainerEvidence(of: container)
        #expect(evidence.report == nil && evidence.events.contains(#""type":"purge","path":"tmp/a""#))
        #expect(evidence.summary.contains("its daemon does not answer") && evidence.summary.contains("purge, tmp/a"))
        #expect(errorWithoutAwait(container) == .silent(container.path))
        await #expect(throws: ContainerError.silent(container.path)) { try await container.expectPurge(of: "tmp/a") }
        #expect(throws: ContainerError.self) { try container.end() }
    }

    /// If the daemon does not answer, the action that should cause the purge is not performed.
    @Test func expectingOfOneThatDoesNotAnswer() async throws {
        let container = try Container(Container.Settings(total: "64M"))
        try stop(try daemon(of: container))
        #expect(errorWithoutAwait(container) { Issue.record("it is performed") } == .silent(container.path))
        await #expect(throws: ContainerError.silent(container.path)) {
            try await container.expectPurge(of: "tmp/a") {
                await Task.yield()
                Issue.record("it is performed")
            }
        }
        #expect(throws: ContainerError.self) { try container.end() }
    }

    @Test func goneWhileAPurgeIsExpected() async throws {
        let container = try Container(Container.Settings(total: "64M"))
        try killDaemon(of: container, isGone: true)
        let error = errorWithoutAwait(container)
        let other = await #expect(throws: ContainerError.self) {
            try await container.expectPurge(of: "tmp/a", within: .seconds(20))
        }
        for case let error? in [error, other] {
            guard case .lost(container.path, _) = error else { throw error }
        }
        #expect(throws: ContainerError.self) { try container.end() }
    }

    private func errorWithoutAwait(_ container: Container) -> ContainerError? {
        #expect(throws: ContainerError.self) { try container.expectPurge(of: "tmp/a", within: .seconds(20)) }
    }

    private func errorWithoutAwait(_ container: Container, during action: () -> Void) -> ContainerError? {
        #expect(throws: ContainerError.self) { try container.expectPurge(of: "tmp/a", during: action) }
    }

    @Test func unmounted() throws {
        #expect(throws: ContainerError.self) {
            try withContainer { container in
                _ = try container.run([container.binary, "unmount", "--force", container.path])
            }
        }
    }
}

/// Kills the daemon; with `isGone`, waits until the loss is visible.
private func killDaemon(of container: Container, isGone: Bool) throws {
    kill(try daemon(of: container), SIGKILL)
    while isGone, (try? container.status) != nil { usleep(1000) }
}

/// Stops a process, and waits until none of its threads can answer.
private func stop(_ process: pid_t) throws {
    kill(process, SIGSTOP)
    let tasks = "/proc/\(process)/task"
    while try !FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy({ task in
        let data = FileManager.default.contents(atPath: "\(tasks)/\(task)/status") ?? Data()
        return String(decoding: data, as: UTF8.self).contains("State:\tT")
    }) { usleep(1000) }
}

private func daemon(of container: Container) throws -> pid_t {
    let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
    return try #require(
        processes.first { process in
            let data = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
            let text = String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\0", with: " ")
            return text.contains(" --foreground ")
                && text.trimmingCharacters(in: .whitespaces).hasSuffix(" " + container.path)
        })
}

private func parent(of process: pid_t) throws -> pid_t {
    let lines = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("PPid:") }
    return try #require(line.flatMap { pid_t($0.dropFirst(5).trimmingCharacters(in: .whitespaces)) })
}
