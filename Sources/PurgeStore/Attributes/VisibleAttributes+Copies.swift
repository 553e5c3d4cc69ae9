import Glibc
import PurgeModel
import PurgeSystem

extension VisibleAttributes {
    /// Returns the attributes of an entry in the store's spelling, without the record of charged blocks, which may name a
    /// sidecar in that store.
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

    /// Sets the attributes on an entry of a new store. Like `cp -a`, skips system attributes that may not be set or are not
    /// supported.
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

    /// Returns the attributes of an entry in an ordinary directory, as an app would set them. The recorded birth is not among
    /// them.
    package static func ordinary(of directory: Int32, _ name: CName?) throws(Errno) -> [Attribute] {
        try all(of: directory, name, inStore: false).filter { $0.name != Array(StoredBirth.key.utf8) }
    }

    /// Sets the attributes on a file or folder of a new store. Throws EINVAL for an attribute that apps cannot set this way.
    /// Skips the same attributes as `store`.
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
