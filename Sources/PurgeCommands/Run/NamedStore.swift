import PurgeStore
import PurgeSystem

/// The store that the user of `purgefs run` named.
struct NamedStore {
    let path: String
    /// The directory there when the place was checked; nil if there was none.
    let known: KnownDirectory?

    var expected: ExpectedStore { ExpectedStore(known) }
}
