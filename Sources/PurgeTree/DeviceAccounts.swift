import PurgeModel

/// The device of a tree. Only PurgeTree changes its ledgers, together with the files. `change` is for the settings and the
/// state. Its body must leave the ledgers alone, although no type enforces that.
public struct DeviceAccounts: Sendable {
    public internal(set) var device: Device { didSet { judged = nil } }
    /// The result of `endChange` while the device stays the same: no new level, and no point due. Nil if the level has not been
    /// judged since the device last changed.
    private var judged: EndOfChange?
    /// The curve of the device's numbers, whose points go to the journal.
    private var curve = StorageCurve()

    init(_ device: Device) { self.device = device }

    /// The ledger in which a node counts.
    subscript(of node: Node) -> Ledger {
        get { device.ledgers[Int(node.container)] }
        _modify { yield &device.ledgers[Int(node.container)] }
    }

    /// Changes the settings or the state. `body` must leave the ledgers alone.
    public mutating func change<Value, Failure: Error>(
        _ body: (inout Device) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // A body that throws may have changed the device first, and the property's observer is not called then.
        defer { judged = nil }
        return try body(&device)
    }

    /// Brings the level in line with free space at the end of a change. `judging` is false until free space is known.
    public mutating func endChange(judging: Bool) -> EndOfChange {
        if let judged { return judged }
        let change = judging ? device.judgePressure() : nil
        let isCalm = device.level == .normal && device.reclaiming.isNone
        let end = EndOfChange(
            levelChange: change, levelChanges: device.levelChanges, isCalm: isCalm,
            isPointDue: judging && device.journal.recordsEvents && curve.follow(numbers))
        if judging {
            judged = EndOfChange(levelChange: nil, levelChanges: end.levelChanges, isCalm: isCalm, isPointDue: false)
        }
        return end
    }

    /// Returns whether a write of this class finds `need` bytes without a purge.
    // Inlined, because a call would copy the whole device.
    @inline(__always)
    public func hasRoom(for need: ByteCount, as class: WriteClass) -> Bool {
        guard need <= device.balance, !device.isFull else { return false }
        return `class` == .important || need <= Capacity.opportunistic(on: device)
    }

    /// Subtracts the whole blocks that a purge takes from others.purgeable; others shrinks by as much.
    public mutating func takeFromOthers(_ bytes: ByteCount) { device.takeFromOthers(bytes) }

    /// Gives back bytes that were taken for a purge that was called off.
    public mutating func returnToOthers(_ bytes: ByteCount) { device.returnToOthers(bytes) }

    public mutating func notePurged(files: Int64 = 0, bytes: ByteCount) {
        device.notePurged(files: files, bytes: bytes)
    }

    /// Records a refused write of `need` bytes. `takesPart` means that part of the bytes would have been enough.
    public mutating func noteRefused(_ need: ByteCount, takesPart: Bool) {
        device.noteRefused()
        device.reclaiming.noteRefused(need, takesPart: takesPart, on: device)
    }
    public mutating func beginReclaiming() { device.reclaiming.begin(on: device) }
    /// Ends the background purge and drops the requests of refused writes, because nothing is left to purge. The level may
    /// still request a purge.
    public mutating func giveUpReclaiming() { device.reclaiming = Reclaiming() }
    public mutating func noteProtectionDenied() { device.noteProtectionDenied() }
}

/// The state of the device at the end of a change.
public struct EndOfChange: Sendable {
    /// The change of the level; nil if there was none, or if the level was not judged.
    public var levelChange: LevelChange?
    public var levelChanges: UInt64
    /// Whether the level is normal, and no background purge is requested or under way.
    public var isCalm: Bool
    /// Whether the numbers have changed enough for another point on their curve. False if the journal records no events.
    public var isPointDue: Bool
}

// The numbers over time.
extension DeviceAccounts {
    // Inlined, because a call with the device as argument would copy all of it.
    @inline(__always)
    private var numbers: StorageCurve.Numbers {
        StorageCurve.Numbers(
            total: device.total, others: device.others, othersPurgeable: device.othersPurgeable, level: device.level,
            ledgers: device.ledgers)
    }

    /// Adds a point to the curve, unless the numbers have changed too little (`StorageCurve.note`) or the journal records no
    /// events.
    public mutating func notePoint(at simulated: Instant, real: Instant, difference: ByteCount = ByteCount(1)) {
        if device.journal.recordsEvents {
            curve.note(numbers, at: simulated, real: real, difference: difference)
        }
    }

    /// Takes the points added since the last call.
    public mutating func takePoints() -> [StorageCurve.Point] { curve.take() }
}

// Bytes that a purge has freed, set aside until its call has enough of them.
extension DeviceAccounts {
    /// Sets aside bytes of chosen files and of others.purgeable for a call that needs room in this container.
    public mutating func setAside(_ bytes: ByteCount, in container: UInt8) {
        device.ledgers[Int(container)].setAside(bytes)
    }

    /// Releases bytes that were set aside, because the call takes them or the purge is called off.
    public mutating func returnSetAside(_ bytes: ByteCount, in container: UInt8) {
        device.ledgers[Int(container)].returnSetAside(bytes)
    }
}
