import Glibc
import PurgeModel
import PurgeTree

/// Pages of writes that were refused because the device is locked. The kernel puts the data of a write into its pages before it
/// asks the daemon. A mapping finds the pages there, and they stay mapped if the write is refused. So data that the kernel
/// dropped when the device was locked would be within reach again.
struct RefusedPages: VolumeFamily {
    let core: VolumeCore

    /// Makes the kernel drop the pages of the file, soon and on another thread, because dropping waits for pages of writes
    /// that have not been answered. However many writes are refused before the drop begins, it runs once.
    func drop(of handle: Handle, _ request: WriteRequest) {
        let node = handle.node
        let isFirst = change { state -> Bool in
            // A passed-through handle has no pages.
            guard !handle.mode.isPassed else { return false }
            state[node].io.refusedBlocks.insert(request.pages)
            guard !state[node].io.awaitsDrop else { return false }
            state[node].io.awaitsDrop = true
            state[node].io.refusedDrops += 1
            core.refusedDrops.add(1, ordering: .sequentiallyConsistent)
            return true
        }
        if isFirst {
            port.runApart {
                // The next refused write may come too late for this drop.
                change { $0[node].io.awaitsDrop = false }
                port.dropRefusedPages(of: node)
                end(node)
            }
        }
    }

    private func end(_ node: Node) {
        change { state in
            state[node].io.refusedDrops -= 1
            if state[node].io.refusedDrops == 0 { state[node].io.refusedBlocks = ExtentSet() }
        }
        core.refusedDrops.subtract(1, ordering: .sequentiallyConsistent)
        core.deviceSettled.advance()
    }

    /// Whether pages that are written back are among the pages of refused writes. No data of such a page may reach the store,
    /// even if the device has just been unlocked.
    @inline(__always)
    func include(_ request: WriteRequest, of node: Node) -> Bool {
        guard core.refusedDrops.load(ordering: .relaxed) > 0 else { return false }
        return read { $0[node].io.refusedBlocks.count(in: request.pages) > 0 }
    }

    /// Waits until the kernel has dropped all pages of refused writes. Must not be called on a thread that serves requests.
    func awaitDrops() {
        while true {
            let seen = core.deviceSettled.generation
            guard core.refusedDrops.load(ordering: .sequentiallyConsistent) > 0 else { return }
            core.deviceSettled.wait(while: seen)
        }
    }
}

extension WriteRequest {
    private static let blocksOfPage = max(1, Int64(getpagesize()) / ByteCount.block.bytes)

    /// The blocks of the kernel's pages that contain the data.
    fileprivate var pages: Range<Int64> {
        let size = Self.blocksOfPage
        return blocks.lowerBound / size * size..<(blocks.upperBound + size - 1) / size * size
    }
}
