import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// Choosing victims for a call that needs room. Until the call has enough, the bytes are set aside, so that no other call or
// purge can take them.
extension Purger {
    /// Runs `body` until it returns a value. `body` returns nil while one step of `cover` does not free enough; other calls can
    /// take the lock between the steps. All or nothing: if `body` throws, the chosen files are reinstated. Returns nil if held
    /// files were not released in time. If `purge` is set afterwards, the caller must have it carried out.
    func makingRoom<Value: Sendable>(
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
            // All other candidates are held. Nothing is set aside while waiting for them.
            let left = deadline - System.uptime()
            guard left > 0 else { return nil }
            port.expectSlowWork()
            core.released.wait(while: seen, milliseconds: min(1000, left / 1_000_000 + 1))
        }
    }

    /// Chooses many victims in steps. Such calls run one at a time, because two could each keep the other from getting enough.
    /// Returns nil if the files that are not held do not suffice. In that case, or if `body` throws, the chosen files are
    /// reinstated.
    private func makingMuchRoom<Value: Sendable>(
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

    private func step<Value: Sendable>(
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

    /// Reinstates the chosen files of a purge that is called off.
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
