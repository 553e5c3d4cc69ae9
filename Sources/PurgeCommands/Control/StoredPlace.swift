/// A place in the container of a store, seen from outside of any mount.
struct StoredPlace: Hashable, Sendable {
    let store: String
    /// Relative to the container; empty for the container itself.
    let inner: String

    /// `path` is absolute and without symbolic links. nil if no folder above it is a store's container.
    init?(_ path: String) {
        let names = path.pathNames
        for count in names.indices.reversed() where names[count] == "container" {
            let store = "/" + names[..<count].joined(separator: "/")
            if Target.isStore(store) {
                self.store = store
                inner = names[(count + 1)...].joined(separator: "/")
                return
            }
        }
        return nil
    }
}
