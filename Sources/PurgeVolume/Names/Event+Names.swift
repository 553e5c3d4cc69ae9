import Glibc
import PurgeModel
import PurgeTree

// The app's changes of names, recorded before the tree is changed.
extension Event {
    // Inlined like the functions below, because each call would copy the borrowed state.
    @inline(__always)
    static func removed(_ node: Node, _ dentry: Dentry, by tid: pid_t, _ state: borrowing VolumeState) -> Event {
        Event(ofApp: .removed, node, at: dentry.path(state), bytes: bytesOfLastName(node, state), by: tid, state)
    }

    /// Returns the events of a rename. If the rename replaces an entry, the event of that entry comes first. A rename between
    /// two names of one file has no event.
    static func renaming(
        _ node: Node, _ from: Dentry, over target: Node?, _ to: Dentry, _ isExchange: Bool, by tid: pid_t,
        _ state: borrowing VolumeState
    ) -> [Event] {
        if target === node { return [] }
        let (old, new) = (from.path(state), to.path(state))
        var renamed = Event(ofApp: .renamed, node, at: old, bytes: bytes(node, state), by: tid, state)
        renamed.to = new
        guard let target else { return [renamed] }
        var other = Event(
            ofApp: isExchange ? .renamed : .replaced, target, at: new,
            bytes: isExchange ? bytes(target, state) : bytesOfLastName(target, state), by: tid, state)
        other.to = old
        guard isExchange else { return [other, renamed] }
        (renamed.reason, other.reason) = (RenameReason.exchange.rawValue, RenameReason.exchanged.rawValue)
        return [renamed, other]
    }

    @inline(__always)
    private static func bytes(_ node: Node, _ state: borrowing VolumeState) -> ByteCount? {
        node.isRegular ? state[node].charged : nil
    }
    /// Returns the bytes that removing a name frees; nil if the file has another name, because then nothing is freed, and nil
    /// for anything but a regular file.
    @inline(__always)
    private static func bytesOfLastName(_ node: Node, _ state: borrowing VolumeState) -> ByteCount? {
        state[node].hasSeveralNames ? nil : bytes(node, state)
    }

    @inline(__always)
    private init(
        ofApp type: EventType, _ node: Node, at path: String, bytes: ByteCount?, by tid: pid_t,
        _ state: borrowing VolumeState
    ) {
        self.init(type: type, path: path, tier: state[node].standing.tier, bytes: bytes, pid: tid == 0 ? nil : tid)
    }
}

extension Dentry {
    /// Returns the path, built from the entry upwards. A path that is too long for an event becomes `.../` and its end, which
    /// bounds the cost of a call in a deep tree.
    fileprivate func path(_ state: borrowing VolumeState) -> String {
        var names = [name]
        var length = name.length
        var folder = directory
        while let parent = state[folder].parent, length <= EventLog.longestText {
            let name = state[folder].name
            names.append(name)
            length += name.length + 1
            folder = parent
        }
        let isCut = length > EventLog.longestText
        while isCut, length + 4 > EventLog.longestText, names.count > 1 { length -= names.removeLast().length + 1 }
        var bytes: [UInt8] = isCut ? Array("...".utf8) : []
        bytes.reserveCapacity(length + 4)
        for name in names.reversed() {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
            name.append(to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
