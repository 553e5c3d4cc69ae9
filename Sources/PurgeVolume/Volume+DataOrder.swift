import PurgeSystem

// What is reserved for a write and what the backing then gets belong together, so nothing may cut
// the file in between. The kernel's own lock of an inode leaves out open(2) with O_TRUNC, the
// write-back of mapped pages and asynchronous direct writes.
extension Volume {
    /// Runs a write: beside other writes of the file, but beside nothing that frees or allocates.
    func besideWrites<Value>(
        of node: Node, _ descriptor: Int32, _ body: () throws(Errno) -> Value
    ) throws(Errno) -> Value {
        awaitTurn(of: node) { part in
            guard part.soloists == 0 else { return false }
            part.writers += 1
            return true
        }
        defer {
            let (isAwaited, isUnsettled) = state.withLock { _ in
                let part = node.ensuredPart
                part.writers -= 1
                return (part.writers == 0 && part.soloists > 0, part.isUnsettled)
            }
            if isAwaited { turns.advance() }
            if isUnsettled { alone(with: node, descriptor) {} }
        }
        return try body()
    }

    /// Runs what frees or allocates blocks of the file: beside nothing else that changes its data.
    func alone<Value, Failure>(
        with node: Node, _ descriptor: Int32, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // From here on no further write begins, so the wait ends.
        state.withLock { _ in node.ensuredPart.soloists += 1 }
        awaitTurn(of: node) { part in
            guard part.writers == 0, !part.isSolo else { return false }
            part.isSolo = true
            return true
        }
        defer {
            if state.withLock({ _ in node.part?.isUnsettled ?? false }) { settle(node, descriptor) }
            state.withLock { _ in
                node.ensuredPart.isSolo = false
                node.ensuredPart.soloists -= 1
            }
            turns.advance()
        }
        return try body()
    }

    /// Returns when `begin`, under the lock, has answered true.
    private func awaitTurn(of node: Node, _ begin: (NodePart) -> Bool) {
        if state.withLock({ _ in begin(node.ensuredPart) }) { return }
        hooks.beforeSlowWork()
        while true {
            let seen = turns.generation
            if state.withLock({ _ in begin(node.ensuredPart) }) { return }
            turns.wait(while: seen)
        }
    }
}
