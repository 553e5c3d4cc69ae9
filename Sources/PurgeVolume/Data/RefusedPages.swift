import PurgeTree

/// Pages of writes that were refused because of the lock. The kernel puts the data of a write into its pages before it asks,
/// where a mapping finds them, and leaves them mapped if the write is refused: what it drops when the device locks would be
/// within reach again.
struct RefusedPages: VolumeFamily {
    let core: VolumeCore

    /// Has the kernel drop the pages of the file, soon and on another thread: it waits for pages of writes that have not been
    /// answered. However many writes are refused meanwhile, a file is dropped once.
    func drop(of handle: Handle) {
        let node = handle.node
        let isFirst = change { _ -> Bool in
            // Others have no pages.
            guard !handle.mode.isPassed, !node.ensuredIO.awaitsDrop else { return false }
            node.ensuredIO.awaitsDrop = true
            node.ensuredIO.refusedDrops += 1
            core.refusedDrops.add(1, ordering: .sequentiallyConsistent)
            return true
        }
        if isFirst {
            hooks.runApart {
                dropNow(node)
                end(node)
            }
        }
    }

    private func dropNow(_ node: Node) {
        let file = change { _ in
            // The next refused write may come too late for this drop.
            node.io?.awaitsDrop = false
            return CachedFile(node)
        }
        hooks.dropRefusedPages(file)
        // Another file may have had that path.
        if read({ _ in CachedFile(node) }) != file { dropNow(node) }
    }

    private func end(_ node: Node) {
        change { _ in node.io?.refusedDrops -= 1 }
        core.refusedDrops.subtract(1, ordering: .sequentiallyConsistent)
        core.deviceSettled.advance()
    }

    /// Returns when the kernel has dropped all of them. Not for a thread that serves requests.
    func awaitDrops() {
        while true {
            let seen = core.deviceSettled.generation
            guard core.refusedDrops.load(ordering: .sequentiallyConsistent) > 0 else { return }
            core.deviceSettled.wait(while: seen)
        }
    }
}
