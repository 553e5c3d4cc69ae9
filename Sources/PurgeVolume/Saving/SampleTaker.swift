import PurgeModel
import PurgeStore
import PurgeSystem

/// Passes the points on the curve of the device's numbers to the journal, which keeps them as samples.
struct SampleTaker: VolumeFamily {
    /// How much must have changed since the last point to add another one.
    enum Detail {
        /// A thousandth of total: for a container in use.
        case usual
        /// Any change, so that a command sees it.
        case exact
        /// No change is needed: for the first and the last point of a mount.
        case always
    }

    let core: VolumeCore
    let journal: Journal

    /// Adds a point if enough has changed for `detail`, and gives the journal the points added since the last call. A journal
    /// that is open only for reading gets none.
    func take(_ detail: Detail = .usual) {
        let real = Instant(nanoseconds: System.now())
        let points = change { state in
            let thousandth = ByteCount(max(1, state.device.total.bytes / 1000))
            state.tree.accounts.notePoint(
                at: clock.now, real: real,
                difference: detail == .usual ? thousandth : ByteCount(detail == .exact ? 1 : 0))
            return state.tree.accounts.takePoints()
        }
        if journal.isForReading { return }
        journal.hold(points.map { StorageSample($0) })
    }
}
