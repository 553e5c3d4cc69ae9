import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

extension Volume {
    /// One write(2) to a control file: one command. May take as long as the purge that it calls
    /// for, so it must not run on a thread that serves requests.
    public func controlCommand(_ handle: ControlHandle, _ bytes: [UInt8], pid: pid_t) throws(Errno) {
        guard bytes.count <= PurgeRequest.longest else { throw .tooBig }
        var text = Substring(String(decoding: bytes, as: UTF8.self))
        if text.last == "\n" { text.removeLast() }
        guard !text.isEmpty else { throw .invalid }
        settleMappings()
        switch handle.file {
        case .storageTotal, .storageOthers, .storageOthersPurgeable:
            try changeSize(handle.file, String(text), pid)
        case .storageThresholds: try changeThresholds(String(text), pid)
        case .storageReclaim: try reclaim(handle, try Self.request(bytes), pid)
        case .storagePlan: handle.content = Array(try planText(try Self.request(bytes)).utf8)
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
    /// for, pressure's too, is over (docs/RULES.md, What sets off a purge).
    private func finishChange(_ pid: pid_t) throws(Errno) {
        awaitingAnnouncements { debt in
            _ = purge(trigger: .capacity, pid: pid, &debt) { state, _ in
                let over = ByteCount.zero - state.capacity.balance
                return over > .zero ? .bytes(over) : nil
            }
        }
        // What has been acknowledged outlives a loss of power; what could not be saved is in force all the same.
        let isSaved = saveSettings(durably: true)
        awaitReclaimer()
        awaitJournal()
        guard isSaved else { throw .input }
    }

    private static func request(_ bytes: [UInt8]) throws(Errno) -> PurgeRequest {
        guard let request = PurgeRequest(bytes) else { throw .invalid }
        return request
    }

    /// EAGAIN if less came back than a size asked for, or something that was named did not go.
    private func reclaim(_ handle: ControlHandle, _ request: PurgeRequest, _ pid: pid_t) throws(Errno) {
        let answer = try awaitingAnnouncements { (debt) throws(Errno) in
            switch request {
            case .byRule(let command, below: nil): purge(command, pid, &debt, isKept: handle.isReadable)
            case .byRule(let command, let path?): try purge(command, below: path, pid, &debt)
            case .paths, .globs: purge(try select(request), pid: pid, &debt)
            }
        }
        handle.content = handle.isReadable ? Array(answer.text.utf8) : []
        awaitJournal()
        if case .byRule(.bytes(let wanted), _) = request, answer.freed < wanted { throw .tryAgain }
        guard answer.refused.isEmpty else { throw .tryAgain }
    }

    private func purge(
        _ command: ReclaimCommand, _ pid: pid_t, _ debt: inout AnnouncementDebt, isKept: Bool
    ) -> PurgeAnswer {
        var answer = PurgeAnswer(isKept: isKept)
        _ = purge(trigger: .command, pid: pid, &debt, report: { answer.add($0) }) { _, freed in
            command.goal.rest(after: freed)
        }
        if command.takesEmptyFiles { purgeEmptyFiles(of: command, pid: pid, &debt) { answer.add($0) } }
        return answer
    }

    /// Where files of the plan are opened before they go, others may have to go for a size.
    private func purge(
        _ command: ReclaimCommand, below path: [UInt8], _ pid: pid_t, _ debt: inout AnnouncementDebt
    ) throws(Errno) -> PurgeAnswer {
        var answer = PurgeAnswer(isKept: true)
        var selection = try select(command, below: path)
        while true {
            let part = purge(selection, pid: pid, &debt)
            answer.add(part)
            guard case .bytes(let wanted) = command, part.freed > .zero, answer.freed < wanted else { return answer }
            do { selection = try select(.bytes(wanted - answer.freed), below: path) } catch {
                return answer  // the path was the file that went
            }
        }
    }
}
