import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

extension ControlFiles {
    /// Carries out one command, which is one write(2) to a control file. It may take as long as the purge it asks for, so it
    /// must not run on a thread that serves requests.
    public func write(_ handle: ControlHandle, _ bytes: [UInt8], pid: pid_t) throws(Errno) {
        guard bytes.count <= PurgeRequest.longest else { throw .argListTooLong }
        var text = Substring(String(decoding: bytes, as: UTF8.self))
        if text.last == "\n" { text.removeLast() }
        guard !text.isEmpty else { throw .invalid }
        retries.finishForCommand(except: pid)
        openFiles.settleMappings()
        switch handle.file.row.content {
        case .answer(purges: true): try reclaim(handle, try Self.request(bytes), pid)
        case .answer(purges: false):
            handle.content = Array(try selections.plan(try Self.request(bytes)).text.utf8)
        case .setting(_, let parse): try set(handle.file, String(text), parse(String(text)), pid)
        case .process:
            guard let process = pid_t(text), process >= 0 else { throw .invalid }
            try core.app.set(process, by: pid)
            try deviceChanges.followApp(pid)
        case .faults:
            // A byte that is not UTF-8 would match other names than the one that was meant.
            guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalid }
            try setFaults(text.utf8.last == UInt8(ascii: "\n") ? String(text.utf8.dropLast()) ?? "" : text)
        case .report, .stream: throw .invalid
        }
    }

    /// Starts the app for a process, as commands in app.state do.
    public func startApp(in state: AppState, for pid: pid_t) throws(Errno) {
        let commands: [AppCommand] =
            switch state {
            case .foreground: [.launch]
            case .background: [.background]
            case .suspended: [.background, .suspend]
            case .terminated, .offloaded: []
            }
        for command in commands { try deviceChanges.apply(.app(command), as: command.rawValue, by: pid) }
    }

    /// Makes the children of `purgefs run` the processes of the app.
    public func adoptChildren(of parent: pid_t) { core.app.adoptChildren(of: parent) }

    /// Sets the folders that stand for containers of app groups. A suspended app that holds a lock on a file in one of them is
    /// terminated. Called when the container has been mounted.
    public func share(_ folders: [String]) {
        core.app.sharedFolders = folders
        core.app.device = core.mountpoint.flatMap { MountEntry.container(at: $0)?.device }
    }

    /// Ends the app, and waits for the purging that this requires. The app need not run.
    public func endApp(of pid: pid_t) {
        do throws(Errno) {
            try deviceChanges.apply(.app(.terminate), as: AppCommand.terminate.rawValue, by: pid)
        } catch {}
        Reclaimer(core: core).awaitPressure()
    }

    /// Kills processes of the app that are stopped, because nothing will continue them after the mount.
    public func releaseProcesses() { _ = core.app.follow { .terminated } }

    /// Applies a change, and returns when everything that it requires is done. EINVAL if the text is malformed or the device
    /// refuses the change.
    private func set(_ file: ControlFile, _ text: String, _ wanted: DeviceChange?, _ pid: pid_t) throws(Errno) {
        guard let wanted else { throw .invalid }
        let told = "\(file.rawValue)=\(text.split(separator: "\n").joined(separator: ", "))"
        try deviceChanges.apply(wanted, as: told, by: pid)
    }

    /// Sets or removes faults. Throws EINVAL if the text is malformed, names an error that does not exist, has a rule about
    /// power, or would bring the rules in force above the limit.
    private func setFaults(_ text: String) throws(Errno) {
        let command: FaultCommand
        do throws(FaultRule.Objection) { command = try FaultCommand(text: text) } catch { throw .invalid }
        try core.faults.carryOut(command)
        if command == .off { core.change { state in state.tree.accounts.change { $0.isFull = false } } }
    }

    private static func request(_ bytes: [UInt8]) throws(Errno) -> PurgeRequest {
        guard let request = PurgeRequest(bytes) else { throw .invalid }
        return request
    }

    /// Purges on command. EAGAIN if less was freed than the requested size, or if a named file was not purged.
    private func reclaim(_ handle: ControlHandle, _ request: PurgeRequest, _ pid: pid_t) throws(Errno) {
        let answer = try purgedNames.awaitingAnnouncements { (debt) throws(Errno) in
            try selections.purge(request, tid: pid, &debt, isKept: handle.isReadable)
        }
        handle.content = handle.isReadable ? Array(answer.text.utf8) : []
        keeper.awaitJournal()
        if case .byRule(.bytes(let wanted), _) = request, answer.freed < wanted { throw .tryAgain }
        guard answer.refused.isEmpty else { throw .tryAgain }
    }
}
