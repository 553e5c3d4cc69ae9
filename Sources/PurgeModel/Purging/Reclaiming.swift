/// Purging in the background: what calls for it apart from the level, and what it has begun with. It does not outlive
/// the mount.
public struct Reclaiming: Hashable, Sendable {
    /// How urgent it has been at the most since it has begun; nil if it has not.
    public private(set) var urgency: Urgency?
    /// Since when all of `Library/Caches` goes; what is used afterwards stays.
    public private(set) var clearing: Instant?
    /// What the largest of the writes needs that have been refused and that purging can serve, until it is free.
    public private(set) var refusedNeed = ByteCount.zero

    public init() {}

    /// How urgent it is on the device; nil if nothing calls for it. Once it has begun it does not become less urgent
    /// before its end.
    public func urgency(on device: Device) -> Urgency? {
        if clearing != nil { return .high }
        let now = refusedNeed > .zero ? .high : device.profile.urgency(at: device.level)
        return now.map { max($0, urgency ?? .low) }
    }

    /// What it aims at; nil if nothing is short.
    func goal(on device: Device) -> PurgeGoal? {
        guard urgency(on: device) != nil else { return nil }
        if clears(on: device) { return .step(.caches) }
        let desired = device.profile.urgency(at: device.level) == nil ? .zero : device.limits.desired
        let short = max(desired, refusedNeed) - device.capacity.balance
        return short > .zero ? .bytes(short) : nil
    }

    /// Whether it is called for, and would find something.
    func isDue(on device: Device) -> Bool {
        guard let urgency = urgency(on: device) else { return false }
        return clears(on: device)
            || finds(urgency, on: device, besides: device.ledgers.bytes(\.heldByClass, urgency, device))
    }

    /// Whether there is more of this urgency than these bytes.
    private func finds(_ urgency: Urgency, on device: Device, besides held: ByteCount = .zero) -> Bool {
        device.othersPurgeable + device.ledgers.bytes(\.reclaimableByClass, urgency, device) > held
    }

    /// Whether all of Caches goes now. The launch of the app ends that.
    public func clears(on device: Device) -> Bool { clearing != nil && !device.isRunning }

    /// It takes its next files. What it has begun with, it goes on with.
    public mutating func begin(on device: Device) {
        if device.profile.lags { urgency = urgency(on: device) }
    }

    /// From a moment on all of Caches goes, or nothing is left of it that may go.
    public mutating func clearCaches(since moment: Instant?) { clearing = moment }

    /// A write was refused that needs so much, or can use a part of it. If purging can make that, it is called for.
    public mutating func noteRefused(_ need: ByteCount, takesPart: Bool, on device: Device) {
        guard device.profile.lags else { return }
        let most = device.capacity.important
        if takesPart || need <= most { refusedNeed = max(refusedNeed, min(need, most)) }
    }

    /// At the end of a change: what is over is forgotten. Purging that has begun is also over when nothing is left, and with
    /// it what refused writes need.
    // Not inlined, because then the device would be copied where this is not called too.
    @inline(never)
    mutating func settle(on device: Device, free: ByteCount) {
        if free >= refusedNeed { refusedNeed = .zero }
        if !clears(on: device) { clearing = nil }
        guard let current = urgency(on: device) else { return urgency = nil }
        if urgency != nil, clearing == nil, !finds(current, on: device) { self = Reclaiming() }
    }

    /// Whether `settle` has nothing to do.
    public var isNone: Bool { urgency == nil && clearing == nil && refusedNeed == .zero }
}

extension [Ledger] {
    /// Charged bytes of all containers.
    @inline(__always)
    var used: ByteCount {
        var used = ByteCount.zero
        for index in indices { used += self[index].used }
        return used
    }

    /// How many of these bytes of all containers a purge of this urgency takes.
    func bytes(_ files: (Ledger) -> PurgeableBytes, _ urgency: Urgency, _ device: Device) -> ByteCount {
        reduce(.zero) { $0 + device.profile.bytes(of: files($1), urgency, isRunning: device.isRunning) }
    }
}
