/// The state of the background purge: its progress, and the requests for it apart from the pressure level. This state does not
/// outlive the mount.
public struct Reclaiming: Hashable, Sendable {
    /// The highest urgency since the purge began; nil before that, and in a profile that does not let the purge lag.
    public private(set) var urgency: Urgency?
    /// The space that the largest refused write needs, as far as purging can provide it. It is zero once that much is free.
    public private(set) var refusedNeed = ByteCount.zero

    public init() {}

    /// Returns the urgency on this device, or nil if nothing requests a purge. A purge that has begun does not become less
    /// urgent before it ends.
    public func urgency(on device: Device) -> Urgency? {
        let now = refusedNeed > .zero ? .high : device.profile.urgency(at: device.level)
        return now.map { max($0, urgency ?? .low) }
    }

    /// Returns the shortfall as the goal; nil if there is none, or no purge is requested.
    func goal(on device: Device) -> PurgeGoal? {
        guard urgency(on: device) != nil else { return nil }
        let desired = device.profile.urgency(at: device.level) == nil ? .zero : device.limits.desired
        let short = max(desired, refusedNeed) - device.capacity.balance
        return short > .zero ? .bytes(short) : nil
    }

    /// Returns whether a purge is requested and would find something.
    func isDue(on device: Device) -> Bool {
        guard let urgency = urgency(on: device) else { return false }
        return finds(urgency, on: device, besides: device.ledgers.bytes(\.heldByClass, urgency, device))
    }

    /// Returns whether more than `held` bytes can be purged at this urgency.
    private func finds(_ urgency: Urgency, on device: Device, besides held: ByteCount = .zero) -> Bool {
        device.othersPurgeable + device.ledgers.bytes(\.reclaimableByClass, urgency, device) > held
    }

    /// Records that the purge takes its next files. If the profile lets the purge lag, its urgency does not fall until it ends.
    public mutating func begin(on device: Device) {
        if device.profile.lags { urgency = urgency(on: device) }
    }

    /// Requests a purge for a refused write of `need` bytes, if the profile lets the purge lag and purging can serve the write.
    /// If `takesPart` is true, a part of `need` is enough for the write.
    public mutating func noteRefused(_ need: ByteCount, takesPart: Bool, on device: Device) {
        guard device.profile.lags else { return }
        let most = device.capacity.important
        if takesPart || need <= most { refusedNeed = max(refusedNeed, min(need, most)) }
    }

    /// Clears finished requests at the end of a change. A purge that has begun also ends when nothing is left to purge, and
    /// refused writes then no longer request one.
    // Not inlined: otherwise callers copy the device even where they do not call this.
    @inline(never)
    mutating func settle(on device: Device, free: ByteCount) {
        if free >= refusedNeed { refusedNeed = .zero }
        guard let current = urgency(on: device) else { return urgency = nil }
        if urgency != nil, !finds(current, on: device) { self = Reclaiming() }
    }

    /// Whether the state is empty, so that `settle` has nothing to do.
    public var isNone: Bool { urgency == nil && refusedNeed == .zero }
}

extension [Ledger] {
    /// The charged bytes of all containers.
    @inline(__always)
    var used: ByteCount {
        var used = ByteCount.zero
        for index in indices { used += self[index].used }
        return used
    }

    /// Returns how many of these bytes, over all containers, a purge of this urgency takes.
    func bytes(_ files: (Ledger) -> PurgeableBytes, _ urgency: Urgency, _ device: Device) -> ByteCount {
        let takesCaches = urgency.takesCaches(of: device)
        return reduce(.zero) { $0 + device.profile.bytes(of: files($1), urgency, takesCaches: takesCaches) }
    }
}
