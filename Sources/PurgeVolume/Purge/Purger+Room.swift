import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// What has been chosen so far for a call that needs room: its files no longer exist for later calls, and their bytes
/// are set aside, so that neither another call nor another purge can take them.
struct Room {
    var job: PurgeJob?
    var setAside = ByteCount.zero
    /// The file for which the call needs it.
    let node: Node
    let tid: pid_t
    /// The container in which it is needed.
    var container: UInt8 { node.container }
}

extension Purger {
    /// How many files a purge chooses while it holds the lock, and then removes together, so that no call waits long for
    /// the lock or for a name.
    static let batch = 256

    /// Runs `body`, under the lock, until it has a value. It returns nil as long as `cover` cannot get it enough in one
    /// step; other calls have a turn in between. All or nothing: if it throws, what was chosen is put back. nil if what
    /// it waited for has not come.
    func makingRoom<Value>(
        for node: Node, tid: pid_t, _ body: (inout Room, inout VolumeState) throws(Errno) -> Value?
    ) throws(Errno) -> Value? {
        let deadline = System.uptime() + core.patience * 1_000_000
        while true {
            let seen = core.released.generation
            var room = Room(node: node, tid: tid)
            if let value = try makeRoom(&room, body) { return value }
            if room.job != nil {
                // Such calls run one after the other; otherwise two could each keep the other from getting enough.
                port.expectSlowWork()
                if let value = try makeMuchRoom(&room, body) { return value }
            }
            // The rest is held. Nothing is set aside while waiting for it.
            let left = deadline - System.uptime()
            guard left > 0 else { return nil }
            port.expectSlowWork()
            core.released.wait(while: seen, milliseconds: min(1000, left / 1_000_000 + 1))
        }
    }

    /// nil if everything that is not held has been chosen, and put back again.
    private func makeMuchRoom<Value>(
        _ room: inout Room, _ body: (inout Room, inout VolumeState) throws(Errno) -> Value?
    ) throws(Errno) -> Value? {
        var result: Result<Value?, Errno> = .success(nil)
        core.makingMuchRoom.withLock { _ in
            var before = ByteCount.zero
            while room.setAside > before {
                before = room.setAside
                do throws(Errno) {
                    if let value = try makeRoom(&room, body) { return result = .success(value) }
                } catch { result = .failure(error) }
            }
            putBack(&room)
        }
        return try result.get()
    }

    private func makeRoom<Value>(
        _ room: inout Room, _ body: (inout Room, inout VolumeState) throws(Errno) -> Value?
    ) throws(Errno) -> Value? {
        try change { (state) throws(Errno) in
            state.tree.accounts.returnSetAside(room.setAside, in: room.container)
            do throws(Errno) {
                if let value = try body(&room, &state) { return value }
            } catch {
                state.tree.accounts.setAside(room.setAside, in: room.container)
                throw error
            }
            state.tree.accounts.setAside(room.setAside, in: room.container)
            return nil
        }
    }

    private func putBack(_ room: inout Room) {
        guard let job = room.job else { return }
        let victims = job.picked.victims
        for start in stride(from: 0, to: victims.count, by: Self.batch) {
            change { state in
                for victim in victims[start..<min(start + Self.batch, victims.count)] {
                    state.tree.accounts.returnSetAside(victim.bytes, in: room.container)
                    state.tree.reinstate(victim.node)
                }
            }
        }
        change { state in
            state.tree.accounts.returnSetAside(job.picked.allFromOthers, in: room.container)
            state.tree.accounts.returnToOthers(job.picked.allFromOthers)
            state.noteTold(job)
            state.noteEnd(of: job)
        }
        (room.job, room.setAside) = (nil, .zero)
    }
}
