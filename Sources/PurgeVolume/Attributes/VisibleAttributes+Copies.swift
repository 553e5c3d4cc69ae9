import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

extension VisibleAttributes {
    /// Gives an entry of a new store the attributes that an entry of another store has, as they are stored. The record of
    /// charged blocks is left out, because it may name a file of that store. As with `cp -a`, attributes that only the
    /// system understands are set where that is possible.
    package static func copyStored(
        from directory: Int32, _ name: CName?, to newDirectory: Int32, _ newName: CName?
    ) throws(Errno) {
        for stored in try StoredAttributes.names(of: directory, name) where stored.text != ExtentRecord.key {
            try stored.withCName { (key) throws(Errno) in
                guard let value = try StoredAttributes.value(of: directory, name, key) else { return }
                do throws(Errno) {
                    try value.withUnsafeBytes { bytes in
                        Result { () throws(Errno) in try System.setAttribute(at: newDirectory, newName, key, bytes) }
                    }.get()
                } catch {
                    guard isOfSystem(stored), [.notPermitted, .notSupported, .accessDenied].contains(error) else {
                        throw error
                    }
                }
            }
        }
    }

    /// The same for an entry of an ordinary directory, whose attributes are those that an app would set. EINVAL for one
    /// that apps cannot set like that.
    package static func copy(
        from directory: Int32, _ name: CName?, to newDirectory: Int32
    ) throws(Errno) {
        for attribute in try all(of: directory, name, inStore: false) {
            do throws(Errno) { try set(attribute, on: newDirectory) } catch {
                guard isOfSystem(Name(utf8: attribute.name)),
                    [.notPermitted, .notSupported, .accessDenied].contains(error)
                else { throw error }
            }
        }
    }

    private static func isOfSystem(_ name: Name) -> Bool {
        ["security.", "system.", "trusted."].contains { name.text.hasPrefix($0) }
    }
}
