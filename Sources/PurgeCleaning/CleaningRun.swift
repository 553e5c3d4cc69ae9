import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// The execution of a `purgefs clean`, from the first phase to the last.
final class CleaningRun {
    private var tasks: [CleaningTask]
    private let hooks: CleaningHooks
    private let container: CleanedContainer
    private let report: CleaningReport
    private var progress: CleaningProgress
    private var failed = 0
    /// The paths that --dry-run has already listed.
    private var planned: Set<[RawText]> = []
    /// The signal that ends the cleaning.
    private var signal: Int32?

    init(_ tasks: [CleaningTask], _ hooks: CleaningHooks, _ container: CleanedContainer, _ report: CleaningReport) {
        (self.tasks, self.hooks, self.container, self.report) = (tasks, hooks, container, report)
        progress = CleaningProgress(.cleaning, parts: tasks.count)
    }

    /// Returns the exit status. Signals that would end this process are blocked, and polled between steps.
    func run() throws(CommandFailure) -> Int32 {
        do throws(Errno) { _ = try System.block(SignalSet.ending.union(SignalSet(SIGCHLD))) } catch {
            throw CommandFailure("cannot clean", path: "signals", error)
        }
        for message in hooks.unused(by: tasks) { report.warn("warning: \(VisibleText.of(message))") }
        let result = Result { () throws(CommandFailure) in
            tasks += try container.manualTasks()
            progress = CleaningProgress(.cleaning, parts: tasks.count)
            if container.isForReading { try plan() } else { try clean() }
        }
        try report.close()
        try result.get()
        if let signal {
            throw CommandFailure(
                status: ExitStatus.signal + signal,
                message: container.isForReading
                    ? "clean: interrupted"
                    : "clean: interrupted; removed files stay "
                        + "removed")
        }
        return failed == 0 ? ExitStatus.done : ExitStatus.failed
    }

    private var goesOn: Bool {
        if signal == nil { signal = System.endSignal() }
        return signal == nil
    }

    private func clean() throws(CommandFailure) {
        let before = try measure(.preCalculating)
        if !goesOn { return }
        try report.show(progress)
        try carryOutAll()
        if !goesOn { return }
        if progress.end() {
            try report.end(progress, "\(tasks.count) \(tasks.count == 1 ? "task" : "tasks"), \(failed) failed")
        }
        let after = try measure(.postCalculating)
        if goesOn { try report.done(before: before, after: after, failed: failed) }
    }

    /// Returns the bytes that the files of the container use.
    private func measure(_ phase: CleaningPhase) throws(CommandFailure) -> ByteCount {
        try container.with { (folder, control) throws(CommandFailure) in
            let expected = Int(clamping: try control.fileCount())
            var progress = CleaningProgress(phase)
            try report.show(progress)
            var counted = CountedBytes()
            var failure: CommandFailure?
            let faults = try self.walk(folder) { step in
                counted.addUse(step.entry)
                if progress.advance(to: counted.files, of: expected) { failure = self.shown(progress) }
                return self.goesOn && failure == nil
            }
            if let failure { throw failure }
            if let unread = CleaningOutcome.Failure(faults) {
                report.warn("warning: \(control.place): not everything was counted: \(unread.reason)")
            }
            let files = "\(counted.files) \(counted.files == 1 ? "file" : "files")"
            if progress.end(), goesOn { try report.end(progress, "\(counted.bytes.inWords) in \(files)") }
            return counted.bytes
        }
    }

    /// Walks over everything in a container.
    private func walk(
        _ folder: any CleanableFolder, _ visit: @escaping (CleaningWalk.Step) -> Bool
    ) throws(CommandFailure) -> CleaningWalk.Faults {
        do throws(Errno) { return try CleaningWalk.walk(folder, at: [], EntrySelection([.all]), visit) } catch {
            throw CommandFailure("cannot clean", path: container.target.place, error)
        }
    }

    private func shown(_ progress: CleaningProgress) -> CommandFailure? {
        do throws(CommandFailure) {
            try report.show(progress)
            return nil
        } catch { return error }
    }
}

// Carries out the tasks. The container stays open for consecutive tasks with a path, but is closed for hooks.
extension CleaningRun {
    private func carryOutAll() throws(CommandFailure) {
        var next = 0
        while next < tasks.count, goesOn {
            if case .call(let type, let selectors) = tasks[next] {
                for selector in selectors where goesOn {
                    try show(try call(CleaningCall(type: type, selector: selector), task: next + 1))
                }
                next += 1
                try endPart()
                continue
            }
            let paths = tasks[next...].prefix { if case .remove = $0 { true } else { false } }
            try removeAll(paths)
            next = paths.endIndex
        }
    }

    private func removeAll(_ paths: ArraySlice<CleaningTask>) throws(CommandFailure) {
        var next = paths.startIndex
        do throws(CommandFailure) {
            try container.with { (folder, _) throws(CommandFailure) in
                while next < paths.endIndex, goesOn {
                    let outcome = try remove(paths[next], next + 1, in: folder)
                    next += 1
                    try show(outcome)
                    try endPart()
                }
            }
        } catch {
            // A hook, for example, may have mounted the store meanwhile. The remaining paths fail, and the run continues.
            guard next < paths.endIndex, error.status == ExitStatus.failed else { throw error }
            report.warn(error.message)
            for index in next..<paths.endIndex {
                var outcome = CleaningOutcome(task: index + 1, .path(paths[index].text))
                outcome.failure = .init(reason: "the container could not be used")
                try show(outcome)
                try endPart()
            }
        }
    }

    private func show(_ outcome: CleaningOutcome) throws(CommandFailure) {
        if outcome.failure != nil { failed += 1 }
        // An interrupted step is not reported, because the end of the run reports the interruption.
        if goesOn { try report.show(outcome) }
    }

    private func endPart() throws(CommandFailure) {
        if progress.endPart(), goesOn { try report.show(progress) }
    }

    private func remove(
        _ task: CleaningTask, _ number: Int, in container: any CleanableFolder
    ) throws(CommandFailure) -> CleaningOutcome {
        var outcome = CleaningOutcome(task: number, .path(task.text))
        var lost = CountedBytes()
        var interruption: CommandFailure?
        do throws(CleaningOutcome.Failure) {
            let cleaning = try PathCleaning(task)
            let start = try cleaning.start(in: container)
            if case .missing = start { outcome.isMissing = true }
            var steps = 0
            // Errors of the counting walk are ignored: the removing walk meets and reports them.
            _ = try cleaning.walk(start) { _ in
                steps += 1
                return self.goesOn
            }
            var done = 0
            let faults = try cleaning.walk(try cleaning.start(in: container)) { (step) throws(Errno) in
                guard self.goesOn, interruption == nil else { return false }
                try step.folder.remove(step.entry.name, isFolder: step.entry.kind == .folder)
                lost.addLoss(step.entry)
                done += 1
                if self.progress.advance(to: done, of: steps) { interruption = self.shown(self.progress) }
                return true
            }
            outcome.failure = .init(faults)
        } catch { outcome.failure = error }
        if let interruption { throw interruption }
        (outcome.files, outcome.bytes) = (lost.files, lost.bytes)
        return outcome
    }

    private func call(_ call: CleaningCall, task: Int) throws(CommandFailure) -> CleaningOutcome {
        var outcome = CleaningOutcome(task: task, .call(call))
        guard let command = hooks.command(for: call) else {
            outcome.failure = .noCommand(call)
            return outcome
        }
        let environment = CleaningHooks.environment(call, container: try container.directory())
        try report.clear()
        do throws(Errno) {
            switch try hooks.run(command, environment) {
            case .ended(.exited(0)): break
            case .ended(.exited(let status)):
                outcome.failure = .init(reason: "its command ended with status \(status)")
            case .ended(.killed(let signal)): outcome.failure = .init(reason: "signal \(signal) ended its command")
            case .timedOut:
                outcome.failure = .init(
                    reason: "its command did not end in time (\(hooks.limit.text)), and was killed",
                    advice: "--hook-timeout gives it more time.")
            case .interrupted(let signal): self.signal = signal
            }
        } catch { outcome.failure = .init(reason: "its command cannot be run: \(error)") }
        return outcome
    }
}

// The dry run.
extension CleaningRun {
    private func plan() throws(CommandFailure) {
        var total = CountedBytes()
        var calls = 0
        try container.with { (folder, _) throws(CommandFailure) in
            for (index, task) in tasks.enumerated() where goesOn {
                guard case .call(let type, let selectors) = task else {
                    try plan(task, index + 1, folder, &total)
                    continue
                }
                for selector in selectors {
                    calls += try plan(CleaningCall(type: type, selector: selector), index + 1)
                }
            }
        }
        if goesOn { try report.planned(files: total.files, bytes: total.bytes, calls: calls) }
    }

    /// Plans a call, and returns the number of commands that would run: one or none.
    private func plan(_ call: CleaningCall, _ task: Int) throws(CommandFailure) -> Int {
        guard let command = hooks.command(for: call) else {
            var outcome = CleaningOutcome(task: task, .call(call))
            outcome.failure = .noCommand(call)
            try show(outcome)
            return 0
        }
        try report.plan(task, call, command)
        return 1
    }

    private func plan(
        _ task: CleaningTask, _ number: Int, _ container: any CleanableFolder, _ total: inout CountedBytes
    ) throws(CommandFailure) {
        var outcome = CleaningOutcome(task: number, .path(task.text))
        var found: [(path: String, entry: CleanableEntry)] = []
        do throws(CleaningOutcome.Failure) {
            let cleaning = try PathCleaning(task)
            let start = try cleaning.start(in: container)
            if case .missing = start { outcome.isMissing = true }
            let faults = try cleaning.walk(start) { step in
                let path = cleaning.path(of: step, from: start)
                // An entry that an earlier task would have removed is not listed again.
                if self.planned.insert(path).inserted { found.append((PathCleaning.plainText(path), step.entry)) }
                return self.goesOn
            }
            outcome.failure = .init(faults)
            if case .entry = start, found.isEmpty, faults.first == nil { outcome.isMissing = true }
        } catch { outcome.failure = error }
        for (path, entry) in found {
            total.addLoss(entry)
            try report.plan(number, path: path + (entry.kind == .folder ? "/" : ""), bytes: entry.bytes)
        }
        if outcome.failure != nil || outcome.isMissing { try show(outcome) }
    }
}
