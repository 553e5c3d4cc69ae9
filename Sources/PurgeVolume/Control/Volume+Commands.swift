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
        settleMappings()
        switch handle.file {
        case .storageTotal, .storageOthers, .storageOthersPurgeable:
            try changeSize(handle.file, String(text), pid)
        case .storageThresholds: try changeThresholds(String(text), pid)
        case .storageReclaim: try reclaim(String(text), pid)
        case .storagePlan:
            guard let command = ReclaimCommand(text: text) else { throw .invalid }
            handle.content = Array(planText(command).utf8)
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
        try finishChange(pid)
    }

    private func changeThresholds(_ text: String, _ pid: pid_t) throws(Errno) {
        try change { (state) throws(Errno) in
            guard let settings = state.thresholdSettings.applying(text, total: state.capacity.total) else {
                throw .invalid
            }
            state.thresholdSettings = settings
            state.capacity.thresholds = settings.resolved(total: state.capacity.total)
            noteCapacity("storage.thresholds=\(text.split(separator: "\n").joined(separator: ", "))", pid, &state)
        }
        try finishChange(pid)
    }

    private func noteCapacity(_ reason: String, _ pid: pid_t, _ state: inout VolumeState) {
        state.actor = .init(pid: pid)
        state.outbox.append(Event(type: .capacity, bytes: state.capacity.free, reason: reason, pid: pid))
    }

    /// A change of capacity is always accepted; it returns when all the purging that it calls
    /// for, pressure's too, is over (SPEC section 3, Triggers).
    private func finishChange(_ pid: pid_t) throws(Errno) {
        _ = purge(trigger: .capacity, pid: pid) { state, _ in
            let over = ByteCount.zero - state.capacity.balance
            return over > .zero ? .bytes(over) : nil
        }
        awaitAnnouncements()
        // What has been acknowledged outlives a loss of power; what could not be saved is in force all the same.
        let isSaved = saveSettings(durably: true)
        awaitReclaimer()
        awaitJournal()
        guard isSaved else { throw .input }
    }

    private func reclaim(_ text: String, _ pid: pid_t) throws(Errno) {
        guard let command = ReclaimCommand(text: text) else { throw .invalid }
        let freed = purge(trigger: .command, pid: pid) { _, freed in command.goal.rest(after: freed) }
        if command.takesEmptyFiles { purgeEmptyFiles(of: command, pid: pid) }
        awaitAnnouncements()
        awaitJournal()
        if case .bytes(let wanted) = command, freed < wanted { throw .tryAgain }
    }
}
