import Foundation

extension Container {
    /// The outcome of a program that has ended.
    public struct Outcome: Hashable, Sendable {
        /// The exit status, or 128 + N after signal N.
        public var status: Int32
        public var output, errors: String
    }

    /// Runs a program, which is looked up in PATH, and waits until it ends. It gets the container's `environment`, changed by
    /// the parameter, and an empty standard input. At the time limit it is killed together with its process group. Processes
    /// that it leaves running end with the container if they have its environment or are in the process group.
    ///
    /// Throws `cannotRun`, `ended`, or `tookTooLong` with the output until then. A failing exit status is not an error.
    public func run(
        _ words: [String], environment: [String: String] = [:], timeLimit: Duration = .seconds(300)
    ) throws -> Outcome {
        try RunningProgram(words, environment, in: self).end(within: timeLimit)
    }

    /// Runs a program in an `async` test, without occupying a thread. If the task is cancelled, for example by a test's time
    /// limit, the program is killed and `CancellationError` is thrown.
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

/// The processes that programs in a container have left running.
struct LeftProcesses {
    /// Whether any program was run.
    var isPossible = false
    /// The groups of ended programs in which processes were still running. Such processes may lack the environment.
    var groups: Set<pid_t> = []

    /// Kills the processes in `groups`, and all processes whose PURGEFS_MOUNT names this container.
    func kill(in container: String) {
        guard isPossible else { return }
        // While a group has members, no new process gets the group's number as its pid. So if a process has this pid, the group
        // is gone and the process is a stranger.
        for group in groups where getpgid(group) == -1 { Foundation.kill(-group, SIGKILL) }
        // A killed process may just have started another.
        for _ in 0..<10 where !killAll(of: Data("PURGEFS_MOUNT=\(container)\0".utf8)) { return }
    }

    /// Kills the processes with `variable` in their environment; returns false if there were none.
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
