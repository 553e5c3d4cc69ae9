import Glibc
import PurgeModel
import PurgeSystem

extension VisibleAttributes {
    /// The attributes of an entry of a store, as they are stored. The record of charged blocks is left out, because it may
    /// name a file of that store.
    package static func stored(of directory: Int32, _ name: CName?) throws(Errno) -> [Attribute] {
        var found: [Attribute] = []
        for stored in try StoredAttributes.names(of: directory, name) where stored.text != ExtentRecord.key {
            let value = try stored.withCName { (key) throws(Errno) in
                try StoredAttributes.value(of: directory, name, key)
            }
            if let value { found.append(Attribute(name: Array(stored.utf8), value: value)) }
        }
        return found
    }

    /// Gives them to an entry of a new store. As with `cp -a`, attributes that only the system understands are set where
    /// that is possible.
    package static func store(
        _ attributes: [Attribute], on directory: Int32, _ name: CName?
    ) throws(Errno) {
        for attribute in attributes {
            let key = AttributeKey(utf8: attribute.name)
            do throws(Errno) {
                try key.withCName { (key) throws(Errno) in
                    try System.setAttribute(at: directory, name, key, attribute.value)
                }
            } catch { if !mayBeLeftOut(key, error) { throw error } }
        }
    }

    /// The attributes of an entry of an ordinary directory, which are those that an app would set. When it was made is no
    /// attribute of it.
    package static func ordinary(of directory: Int32, _ name: CName?) throws(Errno) -> [Attribute] {
        try all(of: directory, name, inStore: false).filter { $0.name != Array(StoredBirth.key.utf8) }
    }

    /// Gives them to a file or folder of a new store. EINVAL for one that apps cannot set like that.
    package static func set(_ attributes: [Attribute], on file: Int32) throws(Errno) {
        for attribute in attributes {
            do throws(Errno) { try set(attribute, on: file) } catch {
                if !mayBeLeftOut(AttributeKey(utf8: attribute.name), error) { throw error }
            }
        }
    }

    private static func mayBeLeftOut(_ name: AttributeKey, _ error: Errno) -> Bool {
        isOfSystem(name) && [.notPermitted, .notSupported, .accessDenied].contains(error)
    }

    private static func isOfSystem(_ name: AttributeKey) -> Bool {
        ["security.", "system.", "trusted."].contains { name.text.hasPrefix($0) }
    }
}
