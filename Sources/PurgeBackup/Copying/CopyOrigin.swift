import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// The origin of a new container's content before its first mount.
package enum CopyOrigin: Sendable {
    /// A store that is not mounted.
    case store(String)
    /// An ordinary directory, whose content becomes the container's content.
    case directory(String)

    package var path: String {
        switch self {
        case .store(let path), .directory(let path): path
        }
    }

    package static func refusal(_ store: String) -> StoreError {
        var refusal = StoreError(
            "the new store would be inside the copied directory", path: store,
            advice: "Name a directory outside of it: --store DIR, or TMPDIR for a temporary store.")
        refusal.reach = .directory
        return refusal
    }
}
