import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// The result of statvfs(2), in blocks of 4096 bytes.
public struct VolumeStatistics: Sendable {
    public var blocks: Int64
    public var free: Int64
    public var available: Int64
}

extension Volume {
    /// Returns the capacity for the class of a write at this place. At the root itself and in the control directory, returns
    /// the free space instead (docs/RULES.md, The number is the truth).
    public func statistics(at node: Node) -> VolumeStatistics {
        retries.finishNameless()
        settleMappings()
        return read { state in
            let capacity = state.capacity
            let available =
                node === root || node.isControl
                ? capacity.free : capacity.available(for: state[node].standing.writeClass)
            return VolumeStatistics(
                blocks: capacity.total.wholeBlocks, free: max(available, capacity.free).wholeBlocks,
                available: available.wholeBlocks)
        }
    }

    public func status() -> StatusReport { core.status() }
    /// How many calls failed because the disk under the store has no room.
    public var hostRefusals: Int { core.hostRefusals.load(ordering: .relaxed) }
}

extension VolumeCore {
    func status() -> StatusReport {
        let isBusy = reclaimerIsBusy.load(ordering: .relaxed)
        return read { state in
            var report = StatusReport(
                device: state.device, ledger: state.device.ledgers[0], mountpoint: mountpoint,
                store: store.absolutePath,
                purging: isBusy || !state.untoldPurges.underWay.isEmpty)
            report.transport = port.transport
            return report
        }
    }
}
