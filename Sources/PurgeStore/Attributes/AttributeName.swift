import Glibc
import PurgeModel
import PurgeSystem

/// A parsed name of an extended attribute, as the app spelled it.
public enum AttributeName {
    /// An attribute that an app can set (docs/XATTRS.md), under any of its names. `appleForm` is the attribute's value under
    /// one of Apple's names; nil under purgefs's own name.
    case storage(StorageAttribute, appleForm: [UInt8]?)
    case computed(ComputedAttribute)
    /// An unknown name in purgefs's own namespace.
    case unknown
    /// Any other attribute, with its name in the store.
    case plain(AttributeKey)

    private static let appleExclusion: StaticString = "com.apple.metadata:com_apple_backup_excludeItem"
    private static let oldAppleExclusion: StaticString = "com.apple.MobileBackup"
    private static let ownPrefix = StorageAttribute.prefix
    /// The prefix that a name gets in the store if it has none of the kernel's four prefixes. File systems accept only names
    /// that begin with one of those.
    private static let rawPrefix: StaticString = "user.purgefs.raw."
    private static let ownTrustedPrefix: StaticString = "trusted.purgefs."
    private static let kernelPrefixes: [StaticString] = ["user.", "trusted.", "security.", "system."]

    public init(_ name: CName) {
        let name = AttributeKey(name)
        if name.isEqual(to: Self.appleExclusion) {
            self = .storage(.isExcludedFromBackup, appleForm: Self.propertyList)
        } else if name.isEqual(to: Self.oldAppleExclusion) {
            self = .storage(.isExcludedFromBackup, appleForm: [1])
        } else if name.hasPrefix(Self.ownPrefix) {
            let own = name.dropping(Self.ownPrefix).text
            if let attribute = StorageAttribute(rawValue: own) {
                self = .storage(attribute, appleForm: nil)
            } else if let attribute = ComputedAttribute(rawValue: own) {
                self = .computed(attribute)
            } else {
                self = .unknown
            }
        } else if name.hasPrefix(Self.ownTrustedPrefix) {
            self = .unknown
        } else if Self.kernelPrefixes.contains(where: name.hasPrefix) {
            self = .plain(name)
        } else {
            self = .plain(name.prefixed(by: Self.rawPrefix))
        }
    }

    /// The binary property list of `com.apple.backupd`, 61 bytes (docs/XATTRS.md).
    static let propertyList: [UInt8] =
        Array("bplist00".utf8) + [0x5f, 0x10, 0x11] + Array("com.apple.backupd".utf8)
        + [0x08, 0, 0, 0, 0, 0, 0, 0x01, 0x01, 0, 0, 0, 0, 0, 0, 0, 0x01] + [UInt8](repeating: 0, count: 15) + [0x1c]

    /// Returns the name that the app sees for a name in the store, or nil for a name that only purgefs uses. Unless `byRoot`,
    /// also returns nil for a name in `trusted.`.
    public static func visible(_ stored: AttributeKey, byRoot: Bool) -> AttributeKey? {
        if stored.hasPrefix(rawPrefix) { return stored.dropping(rawPrefix) }
        if stored.hasPrefix(ownPrefix) {
            return StorageAttribute(rawValue: stored.dropping(ownPrefix).text) == nil ? nil : stored
        }
        if stored.hasPrefix(ownTrustedPrefix) { return nil }
        if stored.hasPrefix("trusted.") { return byRoot ? stored : nil }
        return stored
    }
}
