import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

extension ControlFiles {
    /// One write(2) to a control file is one command. It may take as long as the purge that it calls for, so it must
    /// not run on a thread that serves requests.
    public func write(_ handle: ControlHandle, _ bytes: [UInt8], pid: pid_t) throws(Errno) {
        guard bytes.count <= PurgeRequest.longest else { throw .argListTooLong }
        var text = Substring(String(decoding: bytes, as: UTF8.self))
        if text.last == "\n" { text.removeLast() }
        guard !text.isEmpty else { throw .invalid }
        openFiles.settleMappings()
        switch handle.file.row.content {
        case .answer(purges: true): try reclaim(handle, try Self.request(bytes), pid)
        case .answer(purges: false):
            handle.content = Array(try selections.planText(try Self.request(bytes)).utf8)
        case .size, .thresholds: try changeDevice(handle.file, String(text), pid)
        case .number, .report, .stream: throw .invalid
        }
    }

    private func changeDevice(_ file: ControlFile, _ text: String, _ pid: pid_t) throws(Errno) {
        guard let wanted = file.change(text) else { throw .invalid }
        let told = "\(file.rawValue)=\(text.split(separator: "\n").joined(separator: ", "))"
        let effects = try change { (state) throws(Errno) in
            state.actor = .init(pid: pid)
            do throws(DeviceRefusal) {
                let effects = try state.device.apply(wanted, as: told, by: pid)
                for effect in effects { state.take(effect) }
                return effects
            } catch { throw .invalid }
        }
        try carryOut(effects, pid)
    }

    /// A change is always accepted; this returns when all the purging that it calls for, that of pressure too, is done.
    /// What has been acknowledged survives a loss of power; a change that could not be saved is in force nevertheless.
    private func carryOut(_ effects: [DeviceEffect], _ pid: pid_t) throws(Errno) {
        var isSaved = true
        for effect in effects {
            switch effect {
            case .event, .level: break  // handled under the lock
            case .purge(.pressure): reclaimer.awaitIdle()
            case .purge(let trigger):
                purgedNames.awaitingAnnouncements { debt in
                    _ = purger.purge(trigger: trigger, pid: pid, &debt) { state, _ in state.device.goal(for: trigger) }
                }
            case .save: isSaved = keeper.saveDevice(durably: true)
            }
        }
        keeper.awaitJournal()
        guard isSaved else { throw .ioError }
    }

    private static func request(_ bytes: [UInt8]) throws(Errno) -> PurgeRequest {
        guard let request = PurgeRequest(bytes) else { throw .invalid }
        return request
    }

    /// EAGAIN if less was freed than a size asked for, or something that was named was not purged.
    private func reclaim(_ handle: ControlHandle, _ request: PurgeRequest, _ pid: pid_t) throws(Errno) {
        let answer = try purgedNames.awaitingAnnouncements { (debt) throws(Errno) in
            try selections.purge(request, pid: pid, &debt, isKept: handle.isReadable)
        }
        handle.content = handle.isReadable ? Array(answer.text.utf8) : []
        keeper.awaitJournal()
        if case .byRule(.bytes(let wanted), _) = request, answer.freed < wanted { throw .tryAgain }
        guard answer.refused.isEmpty else { throw .tryAgain }
    }
}
