import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// The outcome, actual or planned, for the files of a request.
struct PurgeAnswer {
    fileprivate(set) var purged: [PlanLine] = []
    fileprivate(set) var refused: [PlanLine] = []
    private(set) var freed = ByteCount.zero
    /// Whether anybody may read the answer.
    private var isKept = true

    /// The text that `storage.reclaim` and `storage.plan` return.
    var text: String { (purged + refused).map(\.text).joined() }

    init(isKept: Bool) { self.isKept = isKept }

    fileprivate init(_ selection: Selection) {
        if selection.namesRefused { refused = selection.missing.map { PlanLine(refused: $0, .noEntry) } }
    }

    /// Combines a plan with files that are purged after it, and lines for files that go along.
    init(_ plan: PurgePlan<FoundFile>, and others: [Victim<FoundFile>], _ rest: [PlanLine]) {
        func fromOthers(_ bytes: ByteCount) -> [PlanLine] { bytes > .zero ? [PlanLine(fromOthers: bytes)] : [] }
        purged = fromOthers(plan.fromOthers) + plan.victims.map { PlanLine($0) } + fromOthers(plan.restOfOthers)
        purged += others.map { PlanLine($0) } + rest
    }

    fileprivate mutating func refuse(_ file: FoundFile, _ cause: PurgeRefusal) {
        refused.append(PlanLine(refused: file.path, cause, leavesTombstone: file.leavesTombstone))
    }

    mutating func add(_ events: [Event]) {
        if isKept { purged += events.map { PlanLine($0) } }
        freed += events.freed
    }

    fileprivate mutating func add(_ line: PlanLine) {
        purged.append(line)
        freed += line.bytes ?? .zero
    }

    mutating func add(_ other: PurgeAnswer) {
        purged += other.purged
        refused += other.refused
        freed += other.freed
    }
}

// Purges for requests. If a request names files, or a path to purge below, its files are selected first. A request for bytes
// below a path selects again if a round freed too little.
extension PurgeSelections {
    /// Carries out any request that `storage.reclaim` accepts. `isKept` is false if nobody will read the outcome.
    func purge(
        _ request: PurgeRequest, tid: pid_t, _ debt: inout AnnouncementDebt, isKept: Bool
    ) throws(Errno) -> PurgeAnswer {
        switch request {
        case .byRule(let command, below: nil): purge(command, tid, &debt, isKept: isKept)
        case .byRule(let command, let path?): try purge(command, below: path, tid, &debt)
        case .paths, .globs, .evenOpen: purge(try select(request), tid: tid, &debt)
        }
    }

    private func purge(
        _ command: ReclaimCommand, _ tid: pid_t, _ debt: inout AnnouncementDebt, isKept: Bool
    ) -> PurgeAnswer {
        var answer = PurgeAnswer(isKept: isKept)
        purger.purge(trigger: .command, tid: tid, &debt, report: { answer.add($0) }) { _, freed in
            command.goal.rest(after: freed)
        }
        if command.takesEmptyFiles { purgeEmptyFiles(of: command, tid: tid, &debt) { answer.add($0) } }
        return answer
    }

    /// Purges by rule below a path. If planned files are opened before their turn, other files may have to be purged to free
    /// the requested bytes.
    private func purge(
        _ command: ReclaimCommand, below path: [UInt8], _ tid: pid_t, _ debt: inout AnnouncementDebt
    ) throws(Errno) -> PurgeAnswer {
        var answer = PurgeAnswer(isKept: true)
        var selection = try select(command, below: path)
        while true {
            let part = purge(selection, tid: tid, &debt)
            answer.add(part)
            guard case .bytes(let wanted) = command, part.freed > .zero, answer.freed < wanted else { return answer }
            do { selection = try select(.bytes(wanted - answer.freed), below: path) } catch {
                return answer  // the path was the file that has been purged
            }
        }
    }

    /// Returns what a purge would do to the selected files.
    func plan(_ selection: Selection) -> PurgeAnswer {
        var answer = PurgeAnswer(selection)
        for part in selection.files.parts(ofAtMost: Self.slice) {
            let lines = read { state in
                part.compactMap { file -> PlanLine? in
                    guard let cause = refusal(of: file, in: state) else { return PlanLine(Victim(file, in: state)) }
                    if cause == .open, selection.takesOpen { return PlanLine(evenOpen: file) }
                    // An empty file in a folder where a purge leaves tombstones is already one, so it is not reported.
                    return selection.namesRefused && cause != .empty ? PlanLine(refused: file.path, cause) : nil
                }
            }
            answer.purged += lines.filter { $0.refused == nil }
            answer.refused += lines.filter { $0.refused != nil }
        }
        return answer
    }

    /// Purges the selected files that may be purged, in order, and waits a while for files that are being changed.
    func purge(_ selection: Selection, tid: pid_t, _ debt: inout AnnouncementDebt) -> PurgeAnswer {
        var answer = PurgeAnswer(selection)
        var files = selection.files
        let deadline = System.uptime() + Purger.patienceForHeldFiles
        while true {
            let seen = core.released.generation
            let refused = purgeOnce(files, tid, &debt, &answer)
            files = refused.filter { $0.cause == .busy }.map(\.file)
            let isOver = files.isEmpty || System.uptime() > deadline
            for (file, cause) in refused where isOver || cause != .busy {
                let left = cause == .open && selection.takesOpen ? removeOpen(file, tid, &debt, &answer) : cause
                if let left, selection.namesRefused { answer.refuse(file, left) }
            }
            if isOver { return answer }
            core.released.wait(while: seen, milliseconds: 100)
        }
    }

    /// Removes the name of a file that may be open. Returns the reason if the name stays.
    private func removeOpen(
        _ file: FoundFile, _ tid: pid_t, _ debt: inout AnnouncementDebt, _ answer: inout PurgeAnswer
    ) -> PurgeRefusal? {
        if let freed = EmptiedFolder(core: core, work: .file(file), pid: tid).removeFile(&debt) {
            answer.add(PlanLine(evenOpen: file, freed: freed))
            return nil
        }
        let cause = read { refusal(of: file, in: $0) }
        return cause == nil || cause == .open ? .failed : cause
    }

    private typealias Refused = (file: FoundFile, cause: PurgeRefusal)

    private func purgeOnce(
        _ files: [FoundFile], _ tid: pid_t, _ debt: inout AnnouncementDebt, _ answer: inout PurgeAnswer
    ) -> [Refused] {
        var refused: [Refused] = []
        for batch in files.parts(ofAtMost: Purger.batch) {
            var chosen: [FoundFile] = []
            let purge = change { state -> Purge? in
                var plan = PurgePlan<Node>()
                for file in batch {
                    if let cause = refusal(of: file, in: state) ?? (state[file.node].isBusy ? .busy : nil) {
                        if cause != .empty { refused.append((file, cause)) }
                    } else {
                        plan.add(state.take(file.node))
                        chosen.append(file)
                    }
                }
                return state.begin(plan, trigger: .command, tid: tid)
            }
            guard let purge else { continue }
            purger.carryOut(purge, &debt) { answer.add($0) }
            refused += read { state in
                chosen.compactMap { file -> Refused? in
                    state[file.node].isStuck && !state[file.node].isUnlinked ? (file.renewed(in: state), .failed) : nil
                }
            }
        }
        return refused
    }
}

extension PlanLine {
    init(_ victim: Victim<FoundFile>) {
        self.init(
            path: victim.file.path, reason: victim.reason, bytes: victim.bytes,
            leavesTombstone: victim.file.leavesTombstone)
    }

    /// The line for a file whose name goes although the file may be open. An open file frees nothing yet.
    fileprivate init(evenOpen file: FoundFile, freed: ByteCount = .zero) {
        self.init(path: file.path, reason: .command, bytes: freed, leavesTombstone: false)
    }

    var text: String { JSONText.encode(self) + "\n" }
}
