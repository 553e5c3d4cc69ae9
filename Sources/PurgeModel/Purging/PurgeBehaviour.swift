/// How a directory wants the files below it purged (docs/RULES.md, Groups and Tombstones). A nil value leaves the decision
/// to the directories above.
public struct PurgeBehaviour: Hashable, Sendable {
    /// Whether the files are purged together.
    public var isGroup: Bool?
    /// Whether a purge truncates the files instead of removing them.
    public var leavesTombstones: Bool?

    public init(isGroup: Bool? = nil, leavesTombstones: Bool? = nil) {
        (self.isGroup, self.leavesTombstones) = (isGroup, leavesTombstones)
    }

    /// Sets one of the two attributes. A malformed value, which can only come from the store, counts as absent.
    public mutating func set(_ attribute: StorageAttribute, to value: String?) {
        let isOn: Bool? = value == "1" ? true : value == "0" ? false : nil
        if attribute == .purgeGroup { isGroup = isOn }
        if attribute == .purgeTombstone { leavesTombstones = isOn }
    }
}
