import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// What a new container is filled with before its first mount.
package enum CopyOrigin: Sendable {
    /// A store that is not mounted.
    case store(String)
    /// An ordinary directory; what is in it becomes what is in the container.
    case directory(String)

    package var path: String {
        switch self {
        case .store(let path), .directory(let path): path
        }
    }

    package static func refusal(_ store: String) -> StoreError {
        var refusal = StoreError(
            "the new store would be in what is copied", path: store,
            advice: "Name a directory outside of it: --store DIR, or TMPDIR for a temporary store.")
        refusal.reach = .directory
        return refusal
    }
}
