/// The attributes that are computed when they are read (docs/XATTRS.md).
public enum ComputedAttribute: String, CaseIterable, Sendable {
    case volumeTotalCapacity, volumeAvailableCapacity, volumeAvailableCapacityForImportantUsage,
        volumeAvailableCapacityForOpportunisticUsage, fileAllocatedSize, totalFileAllocatedSize, creationDate, tier
}
