import Glibc

/// The privileges that a restored file has lost. Root does not restore set-ID bits and capabilities into another user's
/// store, because they let whoever runs the file act with other users' rights, and an attacker may have made the backup.
struct DroppedPrivileges: Sendable, Encodable {
    /// The path for people: bytes that are not UTF-8 are U+FFFD.
    let path: String
    /// Some of `set-user-ID`, `set-group-ID` and `security.capability`.
    private(set) var privileges: [String] = []

    private static let capability = "security.capability"

    /// Returns a file's attributes without its capabilities.
    static func without(_ attributes: [CopySource.Attribute]) -> [CopySource.Attribute] {
        attributes.filter { !$0.name.elementsEqual(capability.utf8) }
    }

    /// Removes the privileges from a file's `record`; returns nil if it has none.
    init?(from record: inout EntryRecord) {
        path = record.place
        for (bit, name) in [(S_ISUID, "set-user-ID"), (S_ISGID, "set-group-ID")] where record.mode & bit != 0 {
            record.mode &= ~bit
            privileges.append(name)
        }
        let kept = record.attributes.filter { !$0.name.elementsEqual(Self.capability.utf8) }
        if kept.count < record.attributes.count { privileges.append(Self.capability) }
        record.attributes = kept
        if privileges.isEmpty { return nil }
    }
}
