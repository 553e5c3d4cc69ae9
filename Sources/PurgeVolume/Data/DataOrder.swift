import PurgeSystem
import PurgeTree

/// The order of changes to a file's data.
///
/// The blocks reserved for a write must stay in step with the blocks that the backing file then gets, so nothing may truncate
/// the file in between. The kernel's own lock does not ensure that: the kernel holds an inode's lock neither for open(2) with
/// O_TRUNC nor for the write-back of mapped pages.
struct DataOrder: VolumeFamily {
    let core: VolumeCore

    /// Runs a call that frees or allocates blocks of the file, while nothing else changes its data.
    func alone<Value>(with node: Node, _ body: () throws(Errno) -> Value) throws(Errno) -> Value {
        var isRegistered = false
        awaitTurn { $0[node].beginAlone(&isRegistered) }
        defer { endTurn(of: node, isAlone: true) }
        return try body()
    }

    /// Waits until `begin` returns true.
    func awaitTurn(_ begin: (inout VolumeState) -> Bool) {
        if change(begin) { return }
        port.expectSlowWork()
        core.turnsAreAwaited.add(1, ordering: .sequentiallyConsistent)
        defer { core.turnsAreAwaited.subtract(1, ordering: .sequentiallyConsistent) }
        while true {
            let seen = core.turns.generation
            if change(begin) { return }
            core.turns.wait(while: seen)
        }
    }

    func endTurn(of node: Node, isAlone: Bool) {
        change { state in
            let isAwaited = state[node].endTurn(isAlone: isAlone)
            if isAwaited { state.noteEndOfTurn() }
        }
    }
}

// Writes that only overwrite existing blocks run concurrently. A call that allocates or frees blocks runs alone, because the
// file and its charge change together.
extension NodeIO {
    /// Registers a write in place. Returns false while a call runs alone, or waits to do so.
    mutating func beginBeside() -> Bool {
        guard soloists == 0 else { return false }
        writers += 1
        return true
    }

    /// Ends a turn. Returns whether another thread may be waiting for it to end.
    mutating func endTurn(isAlone: Bool) -> Bool { isAlone ? endAlone() : endBeside() }

    private mutating func endBeside() -> Bool {
        writers -= 1
        return writers == 0 && soloists > 0
    }

    /// Registers a call that runs alone. Returns false as long as another call is in flight. After the first attempt no further
    /// write in place begins, so the wait ends.
    mutating func beginAlone(_ isRegistered: inout Bool) -> Bool {
        if !isRegistered { soloists += 1 }
        isRegistered = true
        guard writers == 0, !isSolo else { return false }
        isSolo = true
        return true
    }

    private mutating func endAlone() -> Bool {
        isSolo = false
        soloists -= 1
        return true
    }
}
