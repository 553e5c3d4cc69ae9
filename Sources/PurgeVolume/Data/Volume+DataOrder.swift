import PurgeSystem
import PurgeTree

// What is reserved for a write and what the backing then gets belong together, so nothing may cut
// the file in between. The kernel's own lock of an inode leaves out open(2) with O_TRUNC, the
// write-back of mapped pages and asynchronous direct writes.
extension Volume {
    /// Runs a write of `blocks`. One that overwrites what is there goes beside others of its kind; one
    /// that needs new blocks runs alone, since it and the file's map change together.
    func inWriteOrder<Value>(
        with node: Node, _ blocks: Range<Int64>, _ body: () throws(Errno) -> Value
    ) throws(Errno) -> Value {
        var overwrites = true
        awaitTurn(of: node) { io in
            overwrites = node.isDense && node.missing(in: blocks) == 0 && io.unsettled == nil
            guard overwrites else { return true }
            guard io.soloists == 0 else { return false }
            io.writers += 1
            return true
        }
        guard overwrites else { return try alone(with: node, body) }
        defer {
            let isAwaited = change { _ in
                let io = node.ensuredIO
                io.writers -= 1
                return io.writers == 0 && io.soloists > 0
            }
            if isAwaited { core.turns.advance() }
        }
        return try body()
    }

    /// Runs what frees or allocates blocks of the file: beside nothing else that changes its data.
    func alone<Value>(with node: Node, _ body: () throws(Errno) -> Value) throws(Errno) -> Value {
        // From here on no further write begins, so the wait ends.
        let begin = { (io: NodeIO) -> Bool in
            guard io.writers == 0, !io.isSolo else { return false }
            io.isSolo = true
            return true
        }
        let hasBegun = change { _ in
            node.ensuredIO.soloists += 1
            return begin(node.ensuredIO)
        }
        if !hasBegun { awaitTurn(of: node, begin) }
        defer {
            change { _ in
                node.ensuredIO.isSolo = false
                node.ensuredIO.soloists -= 1
            }
            if core.turnsAreAwaited.load(ordering: .sequentiallyConsistent) > 0 { core.turns.advance() }
        }
        return try body()
    }

    /// Returns when `begin`, under the lock, has answered true.
    private func awaitTurn(of node: Node, _ begin: (NodeIO) -> Bool) {
        if change({ _ in begin(node.ensuredIO) }) { return }
        hooks.beforeSlowWork()
        core.turnsAreAwaited.add(1, ordering: .sequentiallyConsistent)
        defer { core.turnsAreAwaited.subtract(1, ordering: .sequentiallyConsistent) }
        while true {
            let seen = core.turns.generation
            if change({ _ in begin(node.ensuredIO) }) { return }
            core.turns.wait(while: seen)
        }
    }
}
