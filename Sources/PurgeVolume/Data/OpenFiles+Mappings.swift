import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// A mapping made through passthrough is a mapping of the backing file. The kernel sends RELEASE at close(2), and the mapping
// lives on. So the last descriptor of a passed-through file is kept, and the file counts as open, until the backing file is
// open nowhere else: then no mapping is left either.
extension OpenFiles {
    /// The maximum number of files that are passed through or may still be mapped. The limit bounds the work: each file that
    /// may still be mapped is checked before a control file reports numbers.
    static let passedFiles = 1024

    /// Counts the closes of a file that have returned, and releases its kept descriptor if the last mapping is gone. Called
    /// before a call that treats an open file differently.
    func settleCloses(of node: Node) {
        if port.closesComeLate, read({ !$0[node].io.handles.isEmpty }) {
            port.catchUpWithCloses()
            var attempts = 10
            awaitClosing(of: node, &attempts)
        }
        settleMapping(of: node)
    }

    func settleMappings() {
        if port.closesComeLate, read({ $0.openFiles > 0 }) { port.catchUpWithCloses() }
        let nodes = read { Array($0.lingering.values) }
        var attempts = 10
        for node in nodes {
            awaitClosing(of: node, &attempts)
            settleMapping(of: node)
        }
    }

    /// Waits until the released descriptors of a file are closed, at most `attempts` times for 20 ms. The thread that serves a
    /// RELEASE closes the descriptor soon after reading the request.
    private func awaitClosing(of node: Node, _ attempts: inout Int) {
        while attempts > 0 {
            let seen = core.turns.generation
            guard read({ $0[node].io.closing > 0 }) else { return }
            attempts -= 1
            port.expectSlowWork()
            core.turnsAreAwaited.add(1, ordering: .sequentiallyConsistent)
            if read({ $0[node].io.closing > 0 }) { core.turns.wait(while: seen, milliseconds: 20) }
            core.turnsAreAwaited.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    /// Releases the kept descriptor of a file if the last mapping is gone.
    func settleMapping(of node: Node) {
        let (handle, sidecar) = change { state in state.settleMapping(of: node) }
        if let sidecar { store.removeSidecar(sidecar) }
        // The handle is closed here, outside of the lock: a file without a name is deleted with it.
        withExtendedLifetime(handle) {}
    }

    /// Releases all kept descriptors at the end of the mount, whether or not mappings are left.
    func endMappings() {
        let (handles, sidecars) = change { state in
            let handles = state.lingering.values.compactMap { state[$0].io.lingering }
            return (handles, handles.compactMap { state.endLingering($0.node, $0) })
        }
        withExtendedLifetime(handles) { sidecars.forEach(store.removeSidecar) }
    }

    /// Ends the closing of a passed-through descriptor, which is closed by now unless it is the one that is kept.
    func endClosing(of node: Node) {
        change { state in
            state[node].io.closing -= 1
            state.noteEndOfTurn()
        }
        settleMapping(of: node)
    }
}

// Writes through a mapping of the backing file are a use, and show only in that file's modification time.
extension OpenFiles {
    /// Runs a call that moves the modification time but is not a use: truncate, fallocate, utimens.
    func apartFromUse<Value>(of node: Node, _ body: () throws(Errno) -> Value) throws(Errno) -> Value {
        guard read({ $0[node].io.modified != nil }) else { return try body() }
        change { $0.noteMappedWrites(of: node, areUse: true) }
        defer { change { $0.noteMappedWrites(of: node, areUse: false) } }
        return try body()
    }
}
