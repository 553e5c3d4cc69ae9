import PurgeSystem

/// A path in the container of a store, seen from outside of any mount.
package struct StoredPlace: Hashable, Sendable {
    package let store: String
    /// The path relative to the container, byte for byte; empty for the container itself.
    package let inner: [UInt8]

    /// Finds the store. `path` is absolute and without symbolic links. Returns nil if the path is not in a store's container. A
    /// store inside another store's container is data of that container's app, so the outermost store counts, as it does when
    /// that one is mounted.
    package init?(_ path: some Collection<UInt8>) {
        let slash = UInt8(ascii: "/")
        let names = path.split(separator: slash)
        for count in names.indices where names[count].elementsEqual("container".utf8) {
            // Paths of stores are UTF-8.
            guard let store = String(path: names[..<count].flatMap { [slash] + $0 }), Target.isStore(store) else {
                continue
            }
            self.store = store
            inner = Array(names[(count + 1)...].joined(separator: [slash]))
            return
        }
        return nil
    }

    var innerText: String { String(decoding: inner, as: UTF8.self) }
}
