import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Data protection: which calls may reach the data of a file while the device is locked, or has not been unlocked since it
/// booted (docs/PROTECTION.md). Every operation that reads, writes or sizes a file's data asks here first.
struct DataProtection: VolumeFamily {
    let core: VolumeCore

    /// Throws EPERM and records an event if the device's state does not admit this access to a file of its class. On an
    /// unlocked device this only checks one flag.
    @inline(__always)
    func admit(_ access: DataAccess, to node: Node, by tid: pid_t) throws(Errno) {
        guard core.restrictsData.load(ordering: .relaxed) else { return }
        try admitRestricted(access, to: node, by: tid)
    }

    /// Checks under `read`; only a refusal needs `change`.
    private func admitRestricted(_ access: DataAccess, to node: Node, by tid: pid_t) throws(Errno) {
        if read({ $0.device.protectionRule.admits(access, own: $0[node].protection) }) { return }
        try change { (state) throws(Errno) in try Self.admit(access, to: node, by: tid, &state) }
    }

    /// Admits or refuses the write-back of a mapping's pages that no refused write has changed (`RefusedPages`). Every
    /// write-back is admitted until the kernel has dropped the file's pages after a lock, because the data may have been stored
    /// in the mapping before the lock.
    @inline(__always)
    func admitWriteBack(to node: Node, by tid: pid_t) throws(Errno) {
        guard core.restrictsData.load(ordering: .relaxed) else { return }
        guard read({ $0[node].io.pagesDropped == core.unlocks.load(ordering: .relaxed) }) else { return }
        try admit(.use, to: node, by: tid)
    }

    /// Admits or refuses a new regular file, before anything is made.
    @inline(__always)
    func admitNew(_ name: Name, in directory: Node, by tid: pid_t) throws(Errno) {
        guard core.restrictsData.load(ordering: .relaxed) else { return }
        try change { (state) throws(Errno) in try Self.admitNew(name, in: directory, by: tid, &state) }
    }

    /// Makes the kernel drop and unmap its pages of the open files whose data is inaccessible after a change of the device's
    /// state. The next access to a mapping then asks for the page anew, and is refused. Closed files with such data cannot be
    /// opened, so nobody can reach their pages in the kernel.
    ///
    /// The kernel waits for pages that are being read or written, and writes back pages that a mapping has changed. This thread
    /// must not hold up those requests, so it serves none and holds no lock.
    func dropPages() {
        let (nodes, unlocks) = read { state -> ([Node], Int) in
            let rule = state.device.protectionRule
            guard rule.state.restrictsData else { return ([], 0) }
            let nodes = state.handles.files { rule.admits(.use, own: state[$0].protection) ? nil : $0 }
            return (nodes, core.unlocks.load(ordering: .relaxed))
        }
        for start in stride(from: 0, to: nodes.count, by: Self.filesAtOnce) {
            let some = Array(nodes[start..<min(start + Self.filesAtOnce, nodes.count)])
            port.dropPages(of: some)
            change { state in for node in some { state[node].io.pagesDropped = unlocks } }
        }
    }

    private static let filesAtOnce = 64
}

// Functions for callers that already hold the lock of the state.
extension DataProtection {
    /// Throws EPERM and records an event if the device's state does not admit this access to a file of its class.
    static func admit(
        _ access: DataAccess, to node: Node, by tid: pid_t, _ state: inout VolumeState
    ) throws(Errno) {
        guard !state.device.protectionRule.admits(access, own: state[node].protection) else { return }
        throw deny(access.rawValue, node, tid, &state)
    }

    /// Admits or refuses a new file, which gets the directory's own class or the device's.
    static func admitNew(
        _ name: Name, in directory: Node, by tid: pid_t, _ state: inout VolumeState
    ) throws(Errno) {
        guard !state.device.protectionRule.admits(.create, own: state[directory].protection) else { return }
        // A file without a name is reported with the path of its directory.
        let folder = state[directory].path()
        let path = (name.length == 0 ? folder : folder + [name]).text
        let event = Event(
            type: .protectionDenied, path: path,
            tier: state[directory].standing.place.entry(isNamed: name.isEqual).tier, pid: tid)
        throw deny(DataAccess.create.rawValue, own: state[directory].protection, event, &state)
    }

    /// Admits or refuses a change of the class; nil removes the entry's own class.
    static func admitChange(
        of node: Node, to new: FileProtection?, by tid: pid_t, _ state: inout VolumeState
    ) throws(Errno) {
        let rule = state.device.protectionRule
        guard !rule.admitsChange(from: state[node].protection, to: new) else {
            // From now on, stores to the file's mappings are admitted.
            if rule.admits(.use, own: new), state[node].io.pagesDropped != -1 { state[node].io.pagesDropped = -1 }
            return
        }
        throw deny("setClass", node, tid, &state)
    }

    private static func deny(_ what: String, _ node: Node, _ tid: pid_t, _ state: inout VolumeState) -> Errno {
        let event = Event(
            type: .protectionDenied, path: state[node].path().text, tier: state[node].standing.tier, pid: tid)
        return deny(what, own: state[node].protection, event, &state)
    }

    private static func deny(
        _ what: String, own: FileProtection?, _ event: Event, _ state: inout VolumeState
    ) -> Errno {
        let rule = state.device.protectionRule
        var event = event
        let kind = rule.effective(own)
        event.reason = "\(what) \(kind.rawValue) \(rule.state(refusing: kind).rawValue)"
        if event.pid == 0 { event.pid = nil }
        state.tree.accounts.noteProtectionDenied()
        state.outbox.append(event)
        return .notPermitted
    }
}
