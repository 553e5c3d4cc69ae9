import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// Entries and their attributes, for the code that serves the volume.
extension Volume {
    /// Returns the entry `name` of a directory. A missing name needs no access to the store, because the tree is complete.
    public func lookup(_ name: CName, in parent: Node, caller: Caller) throws(Errno) -> Entry {
        try retries.lookup(caller.tid) { () throws(Errno) in
            try lookups.lookup(name, in: parent, caller: caller)
        }
    }

    /// Returns the entry of a node that PageWaiter looks up by a temporary name, which the kernel must not cache.
    public func entry(of node: Node) throws(Errno) -> Entry { try lookups.entry(of: node) }

    /// Whether the kernel may cache that the name does not exist. The kernel must not cache this in the control directory. It
    /// also must not do so while a purge of that name is still to be announced, because the announcement goes through the
    /// kernel's own lookup.
    public func mayCacheAbsence(_ name: CName?, in parent: Node) -> Bool {
        lookups.mayCacheAbsence(name, in: parent)
    }

    /// Returns the path in the container of a node, or of a name in it, for people. The path is empty for the container itself
    /// and for nodes without a name. `changes` do not count: a call has made them, and has not been answered.
    public func path(of node: Node, _ name: String? = nil, undoing changes: [UnansweredChange] = []) -> String {
        let path =
            if let file = control.file(node) {
                "\(ControlFile.directory)/\(file.rawValue)"
            } else {
                node.isControl ? ControlFile.directory : read { state in changes.path(of: node, state).text }
            }
        return [path, name].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "/")
    }

    /// Returns the node with this name in the tree; nil if there is none.
    public func entry(_ dentry: Dentry) -> Node? { read { $0[dentry.directory].entry(named: dentry.name) } }

    /// Drops `count` references that the kernel has returned.
    public func forget(_ node: Node, count: UInt64) { lookups.forget(node, count: count) }

    public func attributes(of node: Node, withBirth: Bool = false) throws(Errno) -> Attributes {
        try lookups.attributes(of: node, withBirth: withBirth)
    }

    public func readLink(_ node: Node) throws(Errno) -> [CChar] { try lookups.readLink(node) }

    /// Carries out chmod, chown, truncate and utimens. The kernel holds the inode's lock meanwhile.
    public func setAttributes(
        of node: Node, handle: Handle?, _ change: AttributeChange, debt: inout AnnouncementDebt
    ) throws(Errno) -> Attributes {
        retries.finishOld(except: change.tid)
        return try AttributeChanges(core: core).set(of: node, handle: handle, change, debt: &debt)
    }

    public func makeDirectory(
        _ name: CName, in parent: Node, mode: mode_t, caller: Caller
    ) throws(Errno) -> Entry {
        try names.makeDirectory(name, in: parent, mode: mode, caller: caller)
    }

    public func makeNode(
        _ name: CName, in parent: Node, mode: mode_t, device: dev_t, caller: Caller
    ) throws(Errno) -> Entry {
        try names.makeNode(name, in: parent, mode: mode, device: device, caller: caller)
    }

    public func makeSymbolicLink(
        to target: CName, _ name: CName, in parent: Node, caller: Caller
    ) throws(Errno) -> Entry {
        try names.makeSymbolicLink(to: target, name, in: parent, caller: caller)
    }

    public func link(_ node: Node, as name: CName, in parent: Node, caller: Caller) throws(Errno) -> Entry {
        try names.link(node, as: name, in: parent, caller: caller)
    }

    public func unlink(_ name: CName, in parent: Node, caller: Caller) throws(Errno) {
        try names.unlink(name, in: parent, caller: caller)
    }

    public func removeDirectory(_ name: CName, in parent: Node, caller: Caller) throws(Errno) {
        try names.removeDirectory(name, in: parent, caller: caller)
    }

    public func rename(
        _ name: CName, in parent: Node, to newName: CName, in newParent: Node, flags: UInt32, caller: Caller
    ) throws(Errno) {
        try names.rename(name, in: parent, to: newName, in: newParent, flags: flags, caller: caller)
    }

    /// Creates and opens a file, or opens an existing file unless the flags include O_EXCL.
    public func create(
        _ name: CName, in parent: Node, mode: mode_t, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> (Entry, Handle) {
        try creation.create(
            name, in: parent, mode: mode, flags: flags, caller: caller, offersPassthrough: offersPassthrough)
    }

    /// Creates and opens a file without a name (O_TMPFILE). It is charged like an entry of `directory`.
    public func makeTemporary(
        in directory: Node, mode: mode_t, flags: Int32, caller: Caller
    ) throws(Errno) -> (Entry, Handle) {
        try creation.makeTemporary(in: directory, mode: mode, flags: flags, caller: caller)
    }
}
