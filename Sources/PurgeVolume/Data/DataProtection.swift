import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Data protection: which calls may reach the data of a file while the device is locked, or has not been unlocked since
/// it booted (docs/PROTECTION.md). Everything that reads, writes, or sizes a file's data asks here first.
struct DataProtection: VolumeFamily {
    let core: VolumeCore

    /// EPERM, with an event, if data of the file's class is out of reach now. On an unlocked device this is a look at
    /// one flag.
    @inline(__always)
    func admit(_ access: DataAccess, to node: Node, by tid: pid_t) throws(Errno) {
        guard core.restrictsData.load(ordering: .relaxed) else { return }
        try change { (state) throws(Errno) in try state.admit(access, to: node, by: tid) }
    }

    /// The same for a new regular file, before anything is made.
    @inline(__always)
    func admitNew(_ name: Name, in directory: Node, by tid: pid_t) throws(Errno) {
        guard core.restrictsData.load(ordering: .relaxed) else { return }
        try change { (state) throws(Errno) in try state.admitNew(name, in: directory, by: tid) }
    }

    /// Has the kernel drop its pages of the files whose data is out of reach since the device has changed its state, and
    /// unmap them: the next access to a mapping asks for the page anew, and is refused. Pages that are being read or
    /// written are waited for, and those that have been changed through a mapping are written back, by requests that
    /// this thread must not hold up; so it serves none, and has no lock.
    func dropPages() {
        let (device, nameless) = read { ($0.device, Array($0.tree.nameless.values)) }
        guard device.state.restrictsData else { return }
        drop(nameless, device)
        var pending = [root]
        while let folder = pending.popLast() {
            let nodes = read { _ in Array(folder.entries.values) }
            pending += nodes.filter(\.isDirectory)
            drop(nodes, device)
        }
    }

    private func drop(_ nodes: [Node], _ device: Device) {
        let affected = selections.inSlices(nodes) { node in
            node.isRegular && node.lookups > 0 && !device.admits(.use, own: node.protection) ? node.address : nil
        }
        if !affected.isEmpty { hooks.dropPages(affected) }
    }
}

extension VolumeState {
    /// EPERM, with an event, if data of the file's class is out of reach now.
    mutating func admit(_ access: DataAccess, to node: Node, by tid: pid_t) throws(Errno) {
        guard !device.admits(access, own: node.protection) else { return }
        throw deny(access.rawValue, own: node.protection, node.path(), node.standing.tier, tid)
    }

    /// The same for a new file, which gets the directory's own class or the device's.
    mutating func admitNew(_ name: Name, in directory: Node, by tid: pid_t) throws(Errno) {
        guard !device.admits(.create, own: directory.protection) else { return }
        throw deny(
            DataAccess.create.rawValue, own: directory.protection, directory.path() + [name], directory.standing.tier,
            tid)
    }

    /// The same for a change of the class; nil removes the entry's own.
    mutating func admitProtection(_ new: FileProtection?, of node: Node, by tid: pid_t) throws(Errno) {
        guard !device.admitsProtection(new, for: node.protection) else { return }
        throw deny("setClass", own: node.protection, node.path(), node.standing.tier, tid)
    }

    private mutating func deny(
        _ what: String, own: FileProtection?, _ path: [Name], _ tier: Tier, _ tid: pid_t
    ) -> Errno {
        let protection = device.effectiveProtection(own: own)
        tree.accounts.noteProtectionDenied()
        outbox.append(
            Event(
                type: .protectionDenied, path: path.text, tier: tier,
                reason: "\(what) \(protection.rawValue) \(device.state.rawValue)", pid: tid == 0 ? nil : tid))
        return .notPermitted
    }
}
