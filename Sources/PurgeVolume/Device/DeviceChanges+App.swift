import PurgeModel
import PurgeSystem

// The processes of the app.
extension DeviceChanges {
    /// Brings the app's processes into line with its state.
    func followApp(_ pid: Int32) throws(Errno) {
        try judge(core.app.follow(caller: pid) { read { $0.device.app } }, pid)
    }

    /// Records the locks of an app that has just been suspended, and terminates the app for one outside of its container.
    private func judge(_ locks: [HeldLock], _ pid: Int32) throws(Errno) {
        // Without the device, locks in the container could not be told from others.
        guard !locks.isEmpty, let mountpoint = core.mountpoint, let own = core.app.device else { return }
        let outside = locks.first { $0.lock.device != own && isShared($0.lock.path) }
        // Processes that have inherited a descriptor hold one lock together.
        var seen: Set<FileLock> = []
        let told = locks.compactMap { (held) -> Event? in
            guard held.lock.device == own || isShared(held.lock.path), seen.insert(held.lock).inserted else {
                return nil
            }
            let path = held.lock.path.pathRest(after: mountpoint).map { String($0.dropFirst()) } ?? held.lock.path
            return Event(
                type: .lockHeld, path: path, reason: held.lock.text, pid: held.pid,
                process: System.commandName(of: held.pid))
        }
        try make(by: pid) { device, now in
            guard device.app == .suspended else { return [] }
            var effects = told.map { (event) -> DeviceEffect in
                var event = event
                event.time = now.iso8601
                return .event(event)
            }
            if let outside {
                effects += AppTermination.lockHeldWhileSuspended.carryOut(
                    on: &device, path: outside.lock.path, process: outside.pid, at: now)
            }
            return effects
        }
    }

    /// Whether a lock on this file, which is outside of the container, ends a suspended app.
    private func isShared(_ path: String) -> Bool {
        let folders = core.app.sharedFolders
        return folders.isEmpty || folders.contains { path.isPath(below: $0) }
    }
}

extension FileLock {
    /// The lock in words: `exclusive lock (fcntl)`.
    fileprivate var text: String {
        "\(isExclusive ? "exclusive" : "shared") lock (\(kind == "FLOCK" ? "flock" : "fcntl"))"
    }
}
