import PurgeModel

/// Samples that wait for a journal to be written; of too many, the oldest go.
struct HeldSamples {
    private static let most = 1000

    private(set) var samples: [StorageSample] = []
    /// How many earlier ones have been written or dropped.
    private var gone = 0

    /// The number of the last one.
    var end: Int { gone + samples.count }

    mutating func add(_ new: [StorageSample]) {
        samples += new
        forget(upTo: end - Self.most)
    }

    /// They have been written.
    mutating func forget(upTo end: Int) {
        let count = max(0, end - gone)
        samples.removeFirst(count)
        gone += count
    }
}
