import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

extension Volume {
    /// One write(2) to a control file: one command. May take as long as the purge that it calls
    /// for, so it must not run on a thread that serves requests.
    public func controlCommand(_ handle: ControlHandle, _ bytes: [UInt8], pid: pid_t) throws(Errno) {
        var text = Substring(String(decoding: bytes, as: UTF8.self))
        if text.last == "\n" { text.removeLast() }
        guard !text.isEmpty else { throw .invalid }
        switch handle.file {
        case .storageTotal, .storageOthers, .storageOthersPurgeable:
            try changeSize(handle.file, String(text), pid)
        case .storageThresholds: try changeThresholds(String(text), pid)
        case .storageReclaim: try reclaim(String(text), pid)
        case .storagePlan: handle.content = Array(try planText(String(text)).utf8)
        default: throw .invalid
        }
    }

    private func changeSize(_ file: ControlFile, _ text: String, _ pid: pid_t) throws(Errno) {
        guard let wanted = SizeChange(text: text) else { throw .invalid }
        try change { (state) throws(Errno) in
            var capacity = state.capacity
            switch file {
            case .storageTotal:
                guard let size = wanted.applied(to: capacity.total) else { throw .invalid }
                capacity.total = size.roundedDown
                capacity.thresholds = state.thresholdSettings.resolved(total: capacity.total)
            case .storageOthers:
                guard let size = wanted.applied(to: capacity.others) else { throw .invalid }
                capacity.others = size.roundedUp
                capacity.othersPurgeable = min(capacity.othersPurgeable, capacity.others)
            default:
                guard let size = wanted.applied(to: capacity.othersPurgeable), size.roundedUp <= capacity.others
                else { throw .invalid }
                capacity.othersPurgeable = size.roundedUp
            }
            state.capacity = capacity
            noteCapacity("\(file.rawValue)=\(text)", pid, &state)
        }
        finishChange(pid)
    }

    private func changeThresholds(_ text: String, _ pid: pid_t) throws(Errno) {
        try change { (state) throws(Errno) in
            guard let settings = state.thresholdSettings.applying(lines: text, total: state.capacity.total) else {
                throw .invalid
            }
            state.thresholdSettings = settings
            state.capacity.thresholds = settings.resolved(total: state.capacity.total)
            noteCapacity("storage.thresholds=\(text.split(separator: "\n").joined(separator: ", "))", pid, &state)
        }
        finishChange(pid)
    }

    private func noteCapacity(_ reason: String, _ pid: pid_t, _ state: inout VolumeState) {
        state.outbox.append(Event(type: .capacity, bytes: state.capacity.free, reason: reason, pid: pid))
    }

    /// A change of capacity is always accepted; it returns when all the purging that it calls
    /// for, pressure's too, is over (SPEC section 3, Triggers).
    private func finishChange(_ pid: pid_t) {
        let job = change { state -> PurgeJob? in
            let over = ByteCount.zero - state.capacity.balance
            return over > .zero ? choose(.bytes(over), trigger: .capacity, pid: pid, &state) : nil
        }
        if let job { _ = purgeAndWait(job) }
        saveSettings()
        awaitReclaimer()
        awaitJournal()
    }

    private func reclaim(_ text: String, _ pid: pid_t) throws(Errno) {
        guard let command = ReclaimCommand(text: text) else { throw .invalid }
        let job = change { state -> PurgeJob? in
            let job = choose(command.goal, trigger: .command, pid: pid, &state)
            guard command.takesEmptyFiles else { return job }
            return addEmptyFiles(of: command, to: job, pid, &state)
        }
        var freed = ByteCount.zero
        if let job { freed = purgeAndWait(job).freed }
        awaitJournal()
        if case .bytes(let wanted) = command, freed < wanted { throw .tryAgain }
    }

    /// Empty files and symbolic links of the named place: they give nothing back, and go only now.
    private func addEmptyFiles(
        of command: ReclaimCommand, to job: PurgeJob?, _ pid: pid_t, _ state: inout VolumeState
    ) -> PurgeJob? {
        let victims = emptyFiles(of: command).map { node, directory in
            node.flags.insert(.purging)
            state.withdraw(node)
            return PurgeJob.Victim(
                node: node, directory: directory, name: node.name, reason: .command, bytes: .zero,
                tier: node.standing.tier)
        }
        guard !victims.isEmpty else { return job }
        if var job {
            job.victims += victims
            return job
        }
        state.purgesUnderWay += 1
        return PurgeJob(fromOthers: .zero, victims: victims, trigger: .command, pid: pid)
    }

    private func emptyFiles(of command: ReclaimCommand) -> [(Node, Node)] {
        var step: PurgeStep?
        if case .step(let only) = command.goal { step = only }
        var found: [(Node, Node)] = []
        var pending = [root]
        while let directory = pending.popLast() {
            for node in directory.part?.entries.values ?? [:].values {
                if node.isDirectory { pending.append(node) }
                guard node.isRegular || node.kind == .symbolicLink, node.blocks == 0, node.opens == 0,
                    node.flags.isDisjoint(with: [.purging, .stuck]), !node.hasSeveralNames,
                    let rank = node.standing.rank, step == nil || rank.step == step
                else { continue }
                found.append((node, directory))
            }
        }
        return found
    }

    /// The very plan that `reclaim` would carry out, as JSON lines.
    private func planText(_ text: String) throws(Errno) -> String {
        guard let command = ReclaimCommand(text: text) else { throw .invalid }
        let events = state.withLock { state -> [Event] in
            let plan = plan(command.goal, &state)
            var events: [Event] = []
            if plan.fromOthers > .zero {
                events.append(Event(type: .purge, bytes: plan.fromOthers, reason: PurgeReason.others.rawValue))
            }
            events += plan.items.map {
                Event(type: .purge, path: $0.id.path().text, bytes: $0.bytes, reason: $0.reason.rawValue)
            }
            guard command.takesEmptyFiles else { return events }
            return events
                + emptyFiles(of: command).map { node, _ in
                    Event(
                        type: .purge, path: node.path().text, bytes: .zero, reason: PurgeReason.command.rawValue)
                }
        }
        return events.map { JSONText.encode(PlanLine($0)) + "\n" }.joined()
    }
}

/// One line of `storage.plan`.
public struct PlanLine: Codable, Sendable {
    public var path: String?
    public var reason: String?
    public var bytes: ByteCount?

    init(_ event: Event) {
        path = event.path
        reason = event.reason
        bytes = event.bytes
    }
}
