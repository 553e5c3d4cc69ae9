import PurgeModel

/// Samples that wait to be written to the journal. Beyond a limit, the oldest are dropped.
struct HeldSamples {
    private static let most = 1000

    private(set) var samples: [StorageSample] = []
    /// The number of earlier samples that have been written or dropped.
    private var gone = 0

    /// The number of the last sample.
    var end: Int { gone + samples.count }

    mutating func add(_ new: [StorageSample]) {
        samples += new
        forget(upTo: end - Self.most)
    }

    /// Drops the samples up to number `end`, for example because they have been written.
    mutating func forget(upTo end: Int) {
        let count = max(0, end - gone)
        samples.removeFirst(count)
        gone += count
    }
}
