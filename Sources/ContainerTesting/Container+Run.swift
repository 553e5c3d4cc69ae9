import Foundation

extension Container {
    /// How a program has ended.
    public struct Outcome: Hashable, Sendable {
        /// 128 + N if signal N ended it.
        public var status: Int32
        public var output, errors: String
    }

    /// Runs a program, looked up in PATH, whose HOME and TMPDIR are in the container, and waits for its end. Its input
    /// is empty. It is killed, with what is left of its process group, when its time is over; what it leaves running
    /// ends with the container, as far as that has its environment or is in its process group.
    ///
    /// Throws `cannotRun`, or `tookTooLong` with what it had written.
    public func run(
        _ words: [String], environment: [String: String] = [:], timeLimit: Duration = .seconds(300)
    ) throws -> Outcome {
        try RunningProgram(words, environment, in: self).end(within: timeLimit)
    }

    /// The same in a test with `async`: no thread waits meanwhile. If the task is cancelled, as by the time limit of a test, the
    /// program is killed, and `CancellationError` is thrown.
    public func run(
        _ words: [String], environment: [String: String] = [:], timeLimit: Duration = .seconds(300)
    ) async throws -> Outcome {
        try await RunningProgram(words, environment, in: self).ended(within: timeLimit)
    }
}

private struct RunningProgram: Sendable {
    private let words: [String]
    private let container: Container
    private let child: Child
    private let output, errors: Descriptor

    init(_ words: [String], _ environment: [String: String], in container: Container) throws {
        guard !container.hasEnded else { throw ContainerError.ended(container.path) }
        let input = try Descriptor.open("/dev/null", O_RDONLY)
        self.words = words
        self.container = container
        output = try Descriptor.anonymousFile()
        errors = try Descriptor.anonymousFile()
        container.left.withLock { $0.isPossible = true }
        child = try Child(
            words, environment: container.environment.merging(environment) { $1 }, files: [input, output, errors])
    }

    func end(within limit: Duration) throws -> Container.Outcome {
        if let status = child.wait(limit) { return outcome(status) }
        child.endGroup()
        throw tookTooLong(limit)
    }

    func ended(within limit: Duration) async throws -> Container.Outcome {
        do {
            if let status = try await child.ending(within: limit) { return outcome(status) }
        } catch {
            await Threads.run { [child] in child.endGroup() }
            throw error
        }
        await Threads.run { [child] in child.endGroup() }
        throw tookTooLong(limit)
    }

    private func tookTooLong(_ limit: Duration) -> ContainerError {
        .tookTooLong(words, limit, outcome(child.status() ?? -1))
    }

    private func outcome(_ status: Int32) -> Container.Outcome {
        if child.hasGroup { container.left.withLock { _ = $0.groups.insert(child.pid) } }
        return Container.Outcome(status: status, output: output.wholeText(), errors: errors.wholeText())
    }
}

extension Descriptor {
    fileprivate func wholeText() -> String { String(decoding: (try? content()) ?? Data(), as: UTF8.self) }
}

/// What programs in a container have left running.
struct LeftProcesses {
    /// Whether any program was run.
    var isPossible = false
    /// Process groups of programs that have ended, in which others run on. They need not have the environment.
    var groups: Set<pid_t> = []

    /// Kills all in these groups, and all whose environment leads into this container.
    func kill(in container: String) {
        guard isPossible else { return }
        // A group has its number as long as anybody is in it. Once it is a process's again, that one is a stranger.
        for group in groups where getpgid(group) == -1 { Foundation.kill(-group, SIGKILL) }
        // One that is killed may just have started another.
        for _ in 0..<10 where !killAll(of: Data("PURGEFS_MOUNT=\(container)\0".utf8)) { return }
    }

    /// False if there was none.
    private func killAll(of variable: Data) -> Bool {
        var found = false
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = pid_t(name), pid != getpid(),
                let environment = try? Descriptor.open("/proc/\(name)/environ", O_RDONLY).content(),
                let place = environment.range(of: variable)?.lowerBound,
                place == 0 || environment[place - 1] == 0
            else { continue }
            if Foundation.kill(pid, SIGKILL) == 0 { found = true }
        }
        return found
    }
}
