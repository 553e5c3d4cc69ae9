/// Why a file that a command has named is not purged.
public enum PurgeRefusal: String, CaseIterable, Codable, Sendable {
    /// There is no such file, or it is gone meanwhile.
    case noEntry
    /// A device, a pipe or a socket.
    case special
    /// It lies in a persistent place, and is not marked purgeable.
    case notPurgeable
    /// Purging one of its names would give nothing back.
    case severalNames
    /// The same, for a name that the container knows nothing of.
    case linkedOutside
    /// Somebody has it open or mapped.
    case open
    /// Something was changing it all the while.
    case busy
    /// The store would not let go of it.
    case failed
}
