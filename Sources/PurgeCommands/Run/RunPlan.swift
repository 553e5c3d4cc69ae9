import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem
import PurgeVolume
import Synchronization

/// The changes to the device that `--at` requests while COMMAND runs.
struct RunPlan: Sendable {
    struct Step: Sendable {
        /// The text as the user wrote it.
        let text: String
        /// The time since the beginning of COMMAND.
        let time: TimeSpan
        /// Whether the device's clock measures the time, instead of the host's.
        let isByDeviceClock: Bool
        fileprivate let change: Change
    }

    fileprivate enum Change: Sendable {
        case assignment(Assignment)
        case command(ControlFile, String)
    }

    /// The steps by the host's clock, and those by the device's clock, earliest first. Steps with equal times keep the order of
    /// the command line.
    let steps, stepsByDevice: [Step]

    /// - Parameter faults: rules that are set before COMMAND begins.
    init(_ texts: [String], faults: [String] = []) throws(CommandFailure) {
        var steps: [Step] = []
        if faults.count > FaultRules.most { throw .usage("--fault: more than \(FaultRules.most) rules") }
        for rule in faults { steps.append(try Step(fault: rule)) }
        for text in texts { steps.append(try Step(text)) }
        // The position makes the sort stable.
        let sorted = steps.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
        (self.steps, stepsByDevice) = (sorted.filter { !$0.isByDeviceClock }, sorted.filter(\.isByDeviceClock))
    }
}

extension RunPlan.Step {
    fileprivate init(_ text: String) throws(CommandFailure) {
        let moment = text.prefix { $0 != " " }
        let word = text.dropFirst(moment.count).drop { $0 == " " }
        isByDeviceClock = moment.first == "+"
        let duration = isByDeviceClock ? moment.dropFirst() : moment
        guard let time = TimeSpan(purgeLatency: duration) else {
            throw .usage(
                "--at: " + (DurationText.objection(toDelay: String(duration)) ?? "'\(duration)' is not a duration"))
        }
        (self.text, self.time) = (text, time)
        do throws(CommandFailure) {
            change = try Self.change(String(word))
        } catch { throw .usage("--at \(text): \(error.message)") }
    }

    fileprivate init(fault rule: String) throws(CommandFailure) {
        let objection = FaultText.objection(to: rule)
        guard objection.isEmpty else { throw .usage("--fault \(rule): \(objection)") }
        (text, time, isByDeviceClock, change) = (rule, TimeSpan(seconds: 0), false, .command(.faults, rule))
    }

    private static func change(_ word: String) throws(CommandFailure) -> RunPlan.Change {
        guard let equals = word.firstIndex(of: "="), let file = ControlFile(planned: String(word[..<equals])),
            let objection = objection(to: String(word[word.index(after: equals)...]), for: file)
        else {
            let name = String(word.prefix { $0 != "=" })
            if word.contains("="), ControlFile(settable: name) == nil { throw .usage(refusal(of: name)) }
            return .assignment(try Assignment(word, after: nil))
        }
        guard objection.isEmpty else { throw .usage("\(file.rawValue): \(objection)") }
        return .command(file, String(word[word.index(after: equals)...]))
    }

    private static let commands = ControlFile.allCases.filter { objection(to: "", for: $0) != nil }

    /// Returns the message about a name that can neither be set nor take commands.
    private static func refusal(of text: String) -> String {
        let names = (ControlFile.settable + commands).map(\.rawValue)
        let near = ["", "storage.", "device."].lazy.compactMap { Suggestion.nearest(to: $0 + text, among: names) }.first
        return "'\(text)' cannot be set; "
            + (near.map { "did you mean '\($0)'?" } ?? "these can: \(names.joined(separator: ", "))")
    }

    /// Returns why the file refuses the command: an empty text if the file accepts it, nil if the file takes no commands at
    /// all.
    private static func objection(to command: String, for file: ControlFile) -> String? {
        switch file {
        case .deviceState, .appState, .storagePolicies: objection(to: command, words: file.words)
        case .deviceClock:
            command.first == "+"
                ? DurationText.objection(to: String(command.dropFirst())) ?? ""
                : "'\(command)' is not + and a duration: device.clock=+3d"
        case .storageReclaim:
            PurgeRequest(Array(command.utf8)) == nil
                ? "'\(command)' is not a size, tmp, caches, purgeable or all" : ""
        case .faults: FaultText.objection(to: command)
        default: nil
        }
    }

    private static func objection(to command: String, words: [String]) -> String {
        words.contains(command)
            ? ""
            : "'\(command)' is not one of \(words.joined(separator: ", "))"
                + Suggestion.hint(for: command, among: words)
    }

    fileprivate func carryOut(on control: MountedControl) throws(CommandFailure) {
        switch change {
        case .assignment(let assignment): try Assignment.carryOut([assignment], on: control)
        case .command(let file, let command):
            do throws(Errno) {
                try control.write(command, to: file)
            } catch .tryAgain {
                // Less was purged than requested, because there is no more.
            } catch { throw CommandFailure("cannot write \(file.rawValue)=\(command)", path: control.place, error) }
        }
    }
}

extension ControlFile {
    /// The file that a plan names. A plan may say `fault` for a rule.
    fileprivate init?(planned name: String) { self.init(rawValue: name == "fault" ? "faults" : name) }
}

/// Carries out a plan on its own thread.
final class RunningPlan: Sendable {
    private struct State {
        /// When COMMAND was about to begin.
        var began: Int64?
        var hasBegun = false
        /// When COMMAND ended.
        var ended: Int64?
        /// The number of steps that have begun, by the host's clock and by the device's clock.
        var reached = 0
        var reachedByDevice = 0
        /// How far the device's clock was ahead of the host's before COMMAND, in seconds.
        var ahead: Int64 = 0
        var failures: [CommandFailure] = []
    }

    /// The milliseconds between two readings of the device's clock.
    private static let period: Int64 = 100

    private let steps: [RunPlan.Step]
    private let stepsByDevice: [RunPlan.Step]
    private let control: MountedControl
    private let state = Mutex(State())
    private let gate = Gate()
    private let thread = Mutex<WorkThread?>(nil)

    init(_ plan: RunPlan, mountpoint: String) {
        (steps, stepsByDevice) = (plan.steps, plan.stepsByDevice)
        control = MountedControl(place: mountpoint)
    }

    /// Whether there is something to do before COMMAND begins.
    var isForTheStart: Bool { !stepsByDevice.isEmpty || steps.contains { $0.time.seconds == 0 } }

    /// Carries out the steps that are due before COMMAND begins, and reads the device's clock if steps depend on it.
    func prepare() throws(CommandFailure) {
        for step in steps where step.time.seconds == 0 {
            try step.carryOut(on: control)
            state.withLock { $0.reached += 1 }
        }
        guard !stepsByDevice.isEmpty else { return }
        let ahead = try secondsAhead()
        state.withLock { $0.ahead = ahead }
    }

    /// Starts the thread for the remaining steps, just before COMMAND is started.
    func start() throws(CommandFailure) {
        let began = System.uptime()
        state.withLock { $0.began = began }
        guard state.withLock({ $0.reached }) < steps.count || !stepsByDevice.isEmpty else { return }
        do throws(Errno) {
            let running = try WorkThread(name: "plan") { [self] in run(from: began) }
            thread.withLock { $0 = running }
        } catch { throw CommandFailure("cannot carry out --at", path: control.place, error) }
    }

    func noteBeginning() { state.withLock { $0.hasBegun = true } }

    /// Whether COMMAND was started.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Stops the plan: no further step begins. Called when COMMAND has ended. Does nothing the second time.
    func stop() {
        state.withLock { if $0.ended == nil { $0.ended = System.uptime() } }
        gate.advance()
    }

    /// Returns the failures, and the steps that were not yet due when COMMAND ended. Must be called after `stop`, when no step
    /// waits for the daemon any more.
    func end() -> (failures: [CommandFailure], unreached: [String]) {
        thread.withLock { $0 }?.join()
        return state.withLock { state in
            guard state.hasBegun, let began = state.began, let ended = state.ended else { return (state.failures, []) }
            let rest = steps.dropFirst(state.reached)
            let due = rest.prefix { began &+ $0.time.seconds &* 1_000_000_000 <= ended }
            let late = due.map { step in
                CommandFailure(
                    status: ExitStatus.runFailed,
                    message: VisibleText.of(
                        "run: --at \(step.text) was due, but not done: the daemon was busy or stopped"))
            }
            let others = rest.dropFirst(due.count) + stepsByDevice.dropFirst(state.reachedByDevice)
            return (state.failures + late, others.map(\.text))
        }
    }

    private func run(from began: Int64) {
        while let step = next(from: began) {
            do throws(CommandFailure) {
                try step.carryOut(on: control)
            } catch { state.withLock { if $0.ended == nil { $0.failures.append(error) } } }
        }
    }

    /// Waits until a step is due, and returns it; nil if none is left or the plan was stopped.
    private func next(from began: Int64) -> RunPlan.Step? {
        while true {
            let seen = gate.generation
            let state = state.withLock { $0 }
            let (step, other) = (
                steps.dropFirst(state.reached).first, stepsByDevice.dropFirst(state.reachedByDevice).first
            )
            if state.ended != nil || (step == nil && other == nil) { return nil }
            let rest = step.map { began &+ $0.time.seconds &* 1_000_000_000 &- System.uptime() } ?? .max
            if rest <= 0 {
                self.state.withLock { $0.reached += 1 }
                return step
            }
            if let other, isDue(other, from: began, ahead: state.ahead) {
                return self.state.withLock { state in
                    guard state.ended == nil else { return nil }
                    state.reachedByDevice += 1
                    return other
                }
            }
            gate.wait(while: seen, milliseconds: min(rest / 1_000_000 + 1, other == nil ? 3_600_000 : Self.period))
        }
    }

    private func isDue(_ step: RunPlan.Step, from began: Int64, ahead: Int64) -> Bool {
        // A daemon that does not answer fails the run elsewhere.
        do throws(CommandFailure) {
            return try (System.uptime() &- began) / 1_000_000_000 + secondsAhead() - ahead >= step.time.seconds
        } catch { return false }
    }

    /// Returns the seconds by which the device's clock is ahead of the host's.
    private func secondsAhead() throws(CommandFailure) -> Int64 {
        Int64(try control.content(of: .deviceClock).prefix { $0 != "\n" }) ?? 0
    }
}
