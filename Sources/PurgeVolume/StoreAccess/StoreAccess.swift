import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// How an operation reaches a node in the store.
enum Location {
    /// An entry of an open directory.
    case entry(FileDescriptor, Name)
    /// The container itself, or a removed entry whose descriptor was kept.
    case itself(FileDescriptor)
    /// A file, reached through one of its open descriptors, for example because it has no name.
    case open(Handle)
    /// The known status of a removed entry. Indirect, because it is large and rare.
    indirect case known(FileStatus)

    func status() throws(Errno) -> FileStatus {
        switch self {
        case .entry(let directory, let name):
            try name.withCName { (name) throws(Errno) in try System.status(at: directory.raw, name) }
        case .itself(let descriptor): try System.status(descriptor.raw)
        case .open(let handle): try System.status(handle.descriptor)
        case .known(let status): status
        }
    }

    /// Returns the creation time; nil if the store does not have it.
    func birth() throws(Errno) -> Instant? {
        try with { (directory, name) throws(Errno) in try StoredBirth.of(directory, name) }
    }

    /// Runs `body` either with the descriptor of a directory and the name of an entry in it, or with a descriptor of the node
    /// itself. Throws ESTALE if only the status is known.
    func with<Result>(_ body: (Int32, CName?) throws(Errno) -> Result) throws(Errno) -> Result {
        switch self {
        case .entry(let directory, let name):
            try name.withCName { (name) throws(Errno) in try body(directory.raw, name) }
        case .itself(let descriptor): try body(descriptor.raw, nil)
        case .open(let handle): try body(handle.descriptor, nil)
        case .known: throw .stale
        }
    }
}

/// Access to a node's entry in the store.
struct StoreAccess: VolumeFamily {
    let core: VolumeCore

    /// Returns whether this is the status of the node's own file. Inode numbers are unique only on one device, so the devices
    /// are compared too, except on overlayfs, where a file's device may change. As long as a file has a name, no other file can
    /// get its inode number.
    func isOwn(_ status: FileStatus, of node: Node) -> Bool {
        guard UInt64(status.st_ino) == node.inode else { return false }
        return kind == .overlay || (UInt64(status.st_dev) != core.backingDevice) == node.isOnOtherDevice
    }

    /// Creates the node of an entry that is not in the tree yet.
    func node(_ status: FileStatus, named name: Name, birthMark: UInt32) -> Node {
        Node(
            inode: UInt64(status.st_ino), kind: status.nodeKind, name: name, birthMark: birthMark,
            isOnOtherDevice: UInt64(status.st_dev) != core.backingDevice)
    }

    /// Creates the node of an entry that has just been made.
    func newNode(_ status: FileStatus, named name: Name) -> Node {
        node(status, named: name, birthMark: status.isRegularFile ? BirthMark.of(new: status) : 0)
    }

    private func isNamed(_ node: Node) -> Bool { read { !$0[node].isUnlinked } }

    /// Returns the location of `node`, which stays valid only while nothing moves: see `reading`.
    func locate(_ node: Node) throws(Errno) -> Location {
        while true {
            let (found, directory) = read { state -> (Location?, Node?) in
                if state[node].io.descriptorSlot == NodeIO.pinnedSlot, let own = state[node].io.descriptor {
                    return (.itself(own), nil)
                }
                guard let parent = state[node].parent else {
                    if node === root { return (.itself(store.container), nil) }
                    if let remains = state[node].io.remains { return (remains.location, nil) }
                    if let handle = state[node].io.handles.newest { return (.open(handle), nil) }
                    return (nil, nil)
                }
                guard let descriptor = state[parent].directoryDescriptor else { return (nil, parent) }
                return (.entry(descriptor, state[node].name), nil)
            }
            if let found { return found }
            guard let directory else { throw .noEntry }
            _ = try directoryDescriptor(directory)
        }
    }

    /// Returns an O_PATH descriptor of a directory, from the cache or opened from the nearest ancestor that has one. A
    /// directory keeps its descriptor wherever it moves.
    func directoryDescriptor(
        _ directory: Node, patience: Int64 = Disagreement.patience
    ) throws(Errno) -> FileDescriptor {
        var disagreement = Disagreement(patience: patience)
        repeat {
            let (start, below) = read { state -> (FileDescriptor?, [Node]) in
                var below: [Node] = []
                var node = directory
                while true {
                    if let descriptor = state[node].directoryDescriptor { return (descriptor, below.reversed()) }
                    below.append(node)
                    guard let parent = state[node].parent else { return (nil, []) }
                    node = parent
                }
            }
            guard let start else { throw .noEntry }
            if let opened = try open(below, from: start) { return opened }
        } while disagreement.mayEnd(core)
        throw .stale
    }

    /// Opens each directory within the one before. Returns nil if a name on the path has moved meanwhile.
    private func open(_ nodes: [Node], from start: FileDescriptor) throws(Errno) -> FileDescriptor? {
        var current = start
        for node in nodes {
            let name = read { $0[node].name }
            do {
                current = try openDirectory(name, in: current)
            } catch .noEntry, .notDirectory { return nil }
            guard isOwn(try System.status(current.raw), of: node) else { return nil }
            let opened = current
            // A directory without a name is gone, and another file may have its inode number.
            let isThere = change { state in
                guard state[node].parent != nil else { return false }
                state.descriptors.insert(opened, of: node, in: &state.tree)
                return true
            }
            guard isThere else { return nil }
        }
        return current
    }

    /// Runs `body` on the location of `node`, and again if another file may have got the node's name meanwhile. Serves
    /// operations during which the kernel does not hold the inode's lock; for all others see `changing`.
    func reading<Value>(
        _ node: Node, _ body: (Location) throws(Errno) -> Value
    ) throws(Errno) -> Value {
        var disagreement = Disagreement()
        repeat {
            let began = core.moves.load(ordering: .acquiring)
            let isQuiet = core.movesEnded.load(ordering: .acquiring) == began
            let location: Location
            do { location = try locate(node) } catch .noEntry { throw .stale }
            let result: Result<Value, Errno>
            do throws(Errno) { result = .success(try run(body, on: node, at: location)) } catch {
                result = .failure(error)
            }
            guard case .entry = location, !isQuiet || core.moves.load(ordering: .acquiring) != began else {
                return try result.get()
            }
            do {
                if isOwn(try location.status(), of: node), isNamed(node) { return try result.get() }
            } catch .noEntry, .notDirectory {}
        } while disagreement.mayEnd(core)
        throw .stale
    }

    /// Runs `body` on the location of `node`, and keeps purges from taking the node meanwhile. Serves operations during which
    /// the kernel holds the inode's lock (setattr, setxattr), so a file is not renamed or unlinked meanwhile. A directory may
    /// be renamed, so it is reached through its own descriptor.
    func changing<Value>(
        _ node: Node, _ body: (Location) throws(Errno) -> Value
    ) throws(Errno) -> Value {
        let remains = try unlessGoing(node) { (state) throws(Errno) -> Remains? in
            // No purge can take the node, because its last name is gone.
            if let remains = state[node].io.remains { return remains }
            if state[node].isUnlinked && state[node].opens == 0 { throw .stale }
            state.tree.hold(node)
            return nil
        }
        if let remains { return try body(remains.location) }
        defer { unhold(node) }
        let location: Location
        do {
            location = node.isDirectory ? .itself(try directoryDescriptor(node)) : try locate(node)
        } catch .noEntry { throw .stale }
        return try run(body, on: node, at: location)
    }

    /// Runs `body` on the location. If that fails with EACCES, runs `body` again through an open descriptor of the node, if
    /// there is one. An app can reach a file by descriptor even if the permissions of its folder forbid reaching it by name.
    /// Steps that `body` completed before it failed are then repeated.
    private func run<Value>(
        _ body: (Location) throws(Errno) -> Value, on node: Node, at location: Location
    ) throws(Errno) -> Value {
        do throws(Errno) { return try body(location) } catch {
            guard error == .accessDenied, case .entry = location, let itself = try itself(node) else { throw error }
            return try body(itself)
        }
    }

    private func itself(_ node: Node) throws(Errno) -> Location? {
        if node.isDirectory { return .itself(try directoryDescriptor(node)) }
        return read { $0[node].io.handles.newest.map { .open($0) } }
    }

    /// Waits until no purge is about to truncate the file and none of its names is about to be removed, and then runs `body`.
    /// Throws ESTALE for a file that a purge is about to remove.
    func unlessGoing<Value: Sendable>(
        _ node: Node, _ body: (inout VolumeState) throws(Errno) -> Value
    ) throws(Errno) -> Value {
        var seen: UInt64?
        while true {
            let value = try change { (state) throws(Errno) -> Value? in
                try state.isGoing(node) ? nil : try body(&state)
            }
            if let value { return value }
            awaitGone(&seen)
        }
    }

    /// Waits until a purge, or a hold with `isGoing`, has ended since the previous call with this `seen`. The first call
    /// returns at once, so that the caller looks again: nothing that ends after that goes unnoticed.
    func awaitGone(_ seen: inout UInt64?) {
        if let seen { core.purges.wait(while: seen) }
        seen = core.purges.generation
    }

    /// Ends the hold of an operation on the node.
    func unhold(_ node: Node) {
        let sidecar = change { state in state.endHold(of: node) }
        if let sidecar { store.removeSidecar(sidecar) }
    }

    /// Runs `body`, which changes the entry behind a name, and then `update` with the state. Meanwhile, `VolumeCore.moves`
    /// shows that a move is under way.
    func moving<Value: Sendable>(
        _ body: () throws(Errno) -> Void, then update: (inout VolumeState) -> Value
    ) throws(Errno) -> Value {
        core.moves.add(1, ordering: .acquiringAndReleasing)
        defer { core.movesEnded.add(1, ordering: .acquiringAndReleasing) }
        try body()
        return change { update(&$0) }
    }
}

extension VolumeState {
    /// Returns whether a name of the node is about to go, so that the caller must wait. Throws ESTALE for a file that a purge
    /// is about to remove. When `tmp` is emptied, an open or hard-linked file outlives its name, so callers wait for the end
    /// instead.
    @inline(__always)
    func isGoing(_ node: Node) throws(Errno) -> Bool {
        guard self[node].isGoing else { return false }
        // A purge that removes a file does not hold it, unlike a purge that truncates it.
        if !self[node].isHeld { throw .stale }
        return true
    }

    @inline(__always)
    func node(at dentry: Dentry) -> Node? { self[dentry.directory].entry(named: dentry.name) }

    func path(of dentry: Dentry) -> [Name] { self[dentry.directory].path() + [dentry.name] }
}
