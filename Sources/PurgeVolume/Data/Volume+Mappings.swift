import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// A mapping made through passthrough is one of the backing file: the kernel sends RELEASE at close(2), and
// the mapping lives on. So the last descriptor of a file that has been passed through is kept, and the file
// counts as open, until the backing file is open nowhere else: then no mapping is left either.
extension Volume {
    /// Files that are passed through or perhaps still mapped: each of the latter is asked about before a
    /// number is told.
    static let passedFiles = 1024

    /// Before a number is told or a victim is chosen: lets go of files whose last mapping is gone.
    public func settleMappings() {
        let nodes = read { Array($0.lingering.values) }
        var attempts = 10
        for node in nodes {
            awaitClosing(of: node, &attempts)
            settleMapping(of: node)
        }
    }

    /// What a RELEASE that has been read closes is closed by the thread that serves it: soon. Each
    /// attempt takes 20 ms at most.
    private func awaitClosing(of node: Node, _ attempts: inout Int) {
        while attempts > 0 {
            let seen = core.turns.generation
            guard read({ _ in (node.io?.closing ?? 0) > 0 }) else { return }
            attempts -= 1
            hooks.beforeSlowWork()
            core.turnsAreAwaited.add(1, ordering: .sequentiallyConsistent)
            if read({ _ in (node.io?.closing ?? 0) > 0 }) { core.turns.wait(while: seen, milliseconds: 20) }
            core.turnsAreAwaited.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    /// The same for one file, before it is opened or cut.
    func settleMapping(of node: Node) {
        let (handle, sidecar) = change { state in lockedSettle(node, &state) }
        if let sidecar { store.removeSidecar(sidecar) }
        // Closed here, outside the lock: a file without a name goes with it.
        withExtendedLifetime(handle) {}
    }

    private func lockedSettle(_ node: Node, _ state: inout VolumeState) -> (Handle?, String?) {
        // Any other descriptor of ours would look like a mapping.
        guard let io = node.io, let handle = io.lingering, io.passthroughOpens == 0, io.closing == 0,
            node.opens == 1, System.isOpenNowhereElse(handle.descriptor)
        else { return (nil, nil) }
        return (handle, lockedEndLingering(node, handle, &state))
    }

    private func lockedEndLingering(_ node: Node, _ handle: Handle, _ state: inout VolumeState) -> String? {
        lockedNoteMappedWrites(of: node, areUse: true, &state)
        node.io?.modified = nil
        node.io?.lingering = nil
        state.lingering[ObjectIdentifier(node)] = nil
        state.passedFiles -= 1
        unlink(handle, &state)
        return lockedClose(node, &state)
    }

    /// At the end of the mount, when nobody asks any more.
    func endMappings() {
        let (handles, sidecars) = change { state in
            let handles = state.lingering.values.compactMap { $0.io?.lingering }
            return (handles, handles.compactMap { lockedEndLingering($0.node, $0, &state) })
        }
        withExtendedLifetime(handles) { sidecars.forEach(store.removeSidecar) }
    }

    /// The last passed descriptor has been closed: answers whether it is kept for now.
    func lockedLinger(_ handle: Handle, _ state: inout VolumeState) -> Bool {
        let io = handle.node.ensuredIO
        io.passthroughOpens -= 1
        io.closing += 1
        guard io.passthroughOpens == 0, io.lingering == nil else { return false }
        io.lingering = handle
        state.lingering[ObjectIdentifier(handle.node)] = handle.node
        return true
    }

    /// The descriptor itself is closed now, unless it is the one that is kept.
    func endClosing(of node: Node) {
        change { _ in node.io?.closing -= 1 }
        if core.turnsAreAwaited.load(ordering: .sequentiallyConsistent) > 0 { core.turns.advance() }
        settleMapping(of: node)
    }
}

// What is stored through such a mapping is seen in the backing's modification time alone, and it is a use.
extension Volume {
    /// A descriptor that can be mapped for writing is about to be passed through.
    func lockedWatchMappedWrites(of handle: Handle) {
        guard handle.node.ensuredIO.modified == nil else { return }
        handle.node.ensuredIO.modified = modificationTime(handle.descriptor)
    }

    private func lockedNoteMappedWrites(of node: Node, areUse: Bool, _ state: inout VolumeState) {
        guard let before = node.io?.modified, let handle = node.io?.firstHandle?.takeUnretainedValue(),
            let now = modificationTime(handle.descriptor), now != before
        else { return }
        node.io?.modified = now
        if areUse, now > node.lastUse { state.tree.noteUse(node, at: now) }
    }

    /// Of an open file: no I/O, so the lock may be held.
    private func modificationTime(_ descriptor: Int32) -> Instant? {
        do throws(Errno) {
            let time = try System.status(descriptor).st_mtim
            let (seconds, overflows) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
            return overflows ? nil : Instant(nanoseconds: seconds &+ Int64(time.tv_nsec))
        } catch { return nil }
    }

    /// Runs what moves the modification time and is no use: truncate, fallocate, utimens.
    func apartFromUse<Value>(of node: Node, _ body: () throws(Errno) -> Value) throws(Errno) -> Value {
        guard read({ _ in node.io?.modified != nil }) else { return try body() }
        change { lockedNoteMappedWrites(of: node, areUse: true, &$0) }
        defer { change { lockedNoteMappedWrites(of: node, areUse: false, &$0) } }
        return try body()
    }
}
