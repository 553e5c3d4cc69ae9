/// How a directory wants the files below it to be purged (docs/RULES.md, Groups and Tombstones); nil for what it leaves to
/// the directories above it.
public struct PurgeBehaviour: Hashable, Sendable {
    /// Whether they are purged as one.
    public var isGroup: Bool?
    /// Whether they are emptied instead of removed.
    public var leavesTombstones: Bool?

    public init(isGroup: Bool? = nil, leavesTombstones: Bool? = nil) {
        (self.isGroup, self.leavesTombstones) = (isGroup, leavesTombstones)
    }

    /// The value of one of the attributes; a bad one, which only the store can have, counts as none.
    public mutating func set(_ attribute: StorageAttribute, to value: String?) {
        let isOn: Bool? = value == "1" ? true : value == "0" ? false : nil
        if attribute == .purgeGroup { isGroup = isOn }
        if attribute == .purgeTombstone { leavesTombstones = isOn }
    }
}
