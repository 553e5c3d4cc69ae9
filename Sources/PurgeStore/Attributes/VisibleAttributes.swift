import Glibc
import PurgeModel
import PurgeSystem

/// The extended attributes of entries in a store, as an app sees them through a mount.
public enum VisibleAttributes {
    public struct Attribute: Hashable, Sendable {
        /// The name without a terminating zero.
        public var name: [UInt8]
        public var value: [UInt8]

        public init(name: [UInt8], value: [UInt8]) { (self.name, self.value) = (name, value) }
    }

    /// Returns the attributes that listxattr(2) and getxattr(2) show, sorted by the bytes of their names. With `inStore`, the
    /// entry is in a store. Otherwise its names need no translation, because it is in a mount, which has already translated
    /// them, or in an ordinary directory. Attributes that disappear meanwhile are skipped.
    public static func all(
        of directory: Int32, _ name: CName?, inStore: Bool
    ) throws(Errno) -> [Attribute] {
        var found: [Attribute] = []
        for stored in try StoredAttributes.names(of: directory, name) {
            let visible = inStore ? AttributeName.visible(stored, byRoot: geteuid() == 0) : stored
            guard let visible,
                let value = try stored.withCName({ (key) throws(Errno) in
                    try StoredAttributes.value(of: directory, name, key)
                })
            else { continue }
            found.append(Attribute(name: Array(visible.utf8), value: value))
        }
        return found.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Sets an attribute of an entry in a store as setxattr(2) through a mount would. Throws EINVAL for a bad value or a name
    /// that cannot be set this way, such as one of Apple's names, and ERANGE for a name that is too long.
    public static func set(_ attribute: Attribute, on file: Int32) throws(Errno) {
        guard !attribute.name.isEmpty, !attribute.name.contains(0) else { throw .invalid }
        let (key, value) = try AttributeKey(utf8: attribute.name).withCName { (name) throws(Errno) in
            try stored(AttributeName(name), attribute.value)
        }
        guard key.length <= AttributeKey.maximumLength else { throw .range }
        try key.withCName { (key) throws(Errno) in
            try System.setAttribute(at: file, nil, key, value)
        }
    }

    private static func stored(_ name: AttributeName, _ value: [UInt8]) throws(Errno) -> (AttributeKey, [UInt8]) {
        switch name {
        case .storage(let attribute, appleForm: nil):
            guard let canonical = attribute.canonical(String(decoding: value, as: UTF8.self)) else { throw .invalid }
            return (AttributeKey(utf8: attribute.storeKey.utf8), Array(canonical.utf8))
        case .plain(let key): return (key, value)
        case .storage, .computed, .unknown: throw .invalid
        }
    }

    /// Returns the access and modification times of an entry in a store, as an app sees them through a mount of `device`.
    public static func times(
        _ status: FileStatus, of directory: Int32, _ name: CName?, on device: Device
    ) throws(Errno) -> (accessed: timespec, modified: timespec) {
        let set = device.clock > 0 ? try setTimes(status, of: directory, name) : SetTimes()
        return (
            device.fileClock.shown(FileTime(status.st_atim), .access, of: set).timespec,
            device.fileClock.shown(FileTime(status.st_mtim), .modification, of: set).timespec
        )
    }

    private static func setTimes(
        _ status: FileStatus, of directory: Int32, _ name: CName?
    ) throws(Errno) -> SetTimes {
        if let name, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
            return try StoredAttributes.timesOfLink(in: directory, name) ?? SetTimes()
        }
        guard let kept = try StoredAttributes.value(of: directory, name, SetTimes.key) else { return SetTimes() }
        return SetTimes(text: String(decoding: kept, as: UTF8.self)) ?? SetTimes()
    }

    /// Whether the entry's own flag excludes it from backups.
    public static func isExcludedFromBackup(_ directory: Int32, _ name: CName?) throws(Errno) -> Bool {
        do throws(Errno) {
            return try StoredAttributes.value(of: directory, name, StorageAttribute.isExcludedFromBackup.storeKey)
                == [UInt8(ascii: "1")]
        } catch .notSupported { return false }
    }
}
