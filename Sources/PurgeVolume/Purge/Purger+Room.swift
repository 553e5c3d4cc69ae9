import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// What is chosen for a call that needs room: until it has enough, the bytes are set aside, so that neither another call nor
// another purge can take them.
extension Purger {
    /// Runs `body` until it has a value. It returns nil as long as `cover` cannot get it enough in one
    /// step; other calls have a turn in between. All or nothing: if it throws, what was chosen is put back. nil if what
    /// it waited for has not come. The call must have the purge carried out.
    func makingRoom<Value>(
        for node: Node, _ purge: inout Purge?, _ body: (inout Purge?, inout VolumeState) throws(Errno) -> Value?
    ) throws(Errno) -> Value? {
        let deadline = System.uptime() + core.patience * 1_000_000
        while true {
            let seen = core.released.generation
            if let value = try step(for: node, &purge, body) { return value }
            if purge != nil {
                port.expectSlowWork()
                if let value = try makingMuchRoom(for: node, &purge, body) { return value }
            }
            // The rest is held. Nothing is set aside while waiting for it.
            let left = deadline - System.uptime()
            guard left > 0 else { return nil }
            port.expectSlowWork()
            core.released.wait(while: seen, milliseconds: min(1000, left / 1_000_000 + 1))
        }
    }

    /// Such calls run one after the other; otherwise two could each keep the other from getting enough. nil if everything
    /// that is not held has been chosen, and put back again.
    private func makingMuchRoom<Value>(
        for node: Node, _ purge: inout Purge?, _ body: (inout Purge?, inout VolumeState) throws(Errno) -> Value?
    ) throws(Errno) -> Value? {
        var result: Result<Value?, Errno> = .success(nil)
        core.makingMuchRoom.withLock { _ in
            var before = ByteCount.zero
            while let chosen = purge?.plan.freed, chosen > before {
                before = chosen
                do throws(Errno) {
                    if let value = try step(for: node, &purge, body) { return result = .success(value) }
                } catch { result = .failure(error) }
            }
            putBack(&purge, node)
        }
        return try result.get()
    }

    private func step<Value>(
        for node: Node, _ purge: inout Purge?, _ body: (inout Purge?, inout VolumeState) throws(Errno) -> Value?
    ) throws(Errno) -> Value? {
        try change { (state) throws(Errno) in
            var isEnough = false
            state.tree.accounts.returnSetAside(purge?.plan.freed ?? .zero, in: state[node].container)
            defer {
                if !isEnough { state.tree.accounts.setAside(purge?.plan.freed ?? .zero, in: state[node].container) }
            }
            let value = try body(&purge, &state)
            isEnough = value != nil
            return value
        }
    }

    /// The purge does not take place.
    private func putBack(_ chosen: inout Purge?, _ node: Node) {
        guard let purge = chosen.take() else { return }
        let victims = purge.plan.victims
        for start in stride(from: 0, to: victims.count, by: Self.batch) {
            change { state in
                for victim in victims[start..<min(start + Self.batch, victims.count)] {
                    state.tree.accounts.returnSetAside(victim.bytes, in: state[node].container)
                    state.tree.reinstate(victim.file)
                }
            }
        }
        change { state in
            state.tree.accounts.returnSetAside(purge.plan.allFromOthers, in: state[node].container)
            state.tree.accounts.returnToOthers(purge.plan.allFromOthers)
            state.noteTold(purge)
            state.noteEnd(of: purge)
        }
    }
}
