import PurgeModel

/// The device of a tree. Its ledgers change only with the files: nothing outside of PurgeTree sets them. `change` is for
/// the settings and the state, and must leave them alone, which no type enforces.
public struct DeviceAccounts: Sendable {
    public internal(set) var device: Device { didSet { judged = nil } }
    /// What the last change found, if nothing about the device has changed since the level was brought in line.
    private var judged: EndOfChange?
    /// What the journal tells of the numbers.
    private var curve = StorageCurve()

    init(_ device: Device) { self.device = device }

    /// The numbers in which a node counts.
    subscript(of node: Node) -> Ledger {
        get { device.ledgers[Int(node.container)] }
        _modify { yield &device.ledgers[Int(node.container)] }
    }

    /// Carries out a change of the settings or the state, which leaves the ledgers alone.
    public mutating func change<Value, Failure: Error>(
        _ body: (inout Device) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // A body that throws may have changed the device before, and then the property's observer is not called.
        defer { judged = nil }
        return try body(&device)
    }

    /// At the end of each change the level is brought in line with free space, if that is known yet.
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

    /// Whether a write of this class finds so much room without a purge.
    // Inlined, since for a call all of this would be copied.
    @inline(__always)
    public func hasRoom(for need: ByteCount, as class: WriteClass) -> Bool {
        guard need <= device.balance else { return false }
        return `class` == .important || need <= Capacity.opportunistic(on: device)
    }

    /// A purge takes whole blocks of what the system and other apps can free.
    public mutating func takeFromOthers(_ bytes: ByteCount) { device.takeFromOthers(bytes) }

    /// The purge that took them does not take place.
    public mutating func returnToOthers(_ bytes: ByteCount) { device.returnToOthers(bytes) }

    public mutating func notePurged(files: Int64 = 0, bytes: ByteCount) {
        device.notePurged(files: files, bytes: bytes)
    }

    /// A write was refused that needs so much room, or can use a part of it.
    public mutating func noteRefused(_ need: ByteCount, takesPart: Bool) {
        device.noteRefused()
        device.reclaiming.noteRefused(need, takesPart: takesPart, on: device)
    }
    public mutating func beginReclaiming() { device.reclaiming.begin(on: device) }
    public mutating func clearCaches(since moment: Instant?) { device.reclaiming.clearCaches(since: moment) }
    /// Nothing is left that may go, so writes that were refused before are given up.
    public mutating func giveUpReclaiming() { device.reclaiming = Reclaiming() }
    public mutating func noteProtectionDenied() { device.noteProtectionDenied() }
}

/// What the end of a change finds on the device.
public struct EndOfChange: Sendable {
    /// What `Device.judgePressure` has returned.
    public var levelChange: LevelChange?
    public var levelChanges: UInt64
    /// There is enough free space, and nothing else calls for purging in the background.
    public var isCalm: Bool
    /// The numbers have changed so much that their curve is to have a point.
    public var isPointDue: Bool
}

// The numbers along the time.
extension DeviceAccounts {
    // For a call with the device, all of that would be copied.
    @inline(__always)
    private var numbers: StorageCurve.Numbers {
        StorageCurve.Numbers(
            total: device.total, others: device.others, othersPurgeable: device.othersPurgeable, level: device.level,
            ledgers: device.ledgers)
    }

    /// Adds a point to the curve if anything was used since the last one that differs from it by `difference`.
    public mutating func notePoint(at simulated: Instant, real: Instant, difference: ByteCount = ByteCount(1)) {
        if device.journal.recordsEvents {
            curve.note(numbers, at: simulated, real: real, difference: difference)
        }
    }

    /// The points since the last call.
    public mutating func takePoints() -> [StorageCurve.Point] { curve.take() }
}

// Bytes of chosen files that belong to no file until a call has enough of them.
extension DeviceAccounts {
    /// Sets bytes aside for a call that needs room in this container. The files that had them have been chosen.
    public mutating func setAside(_ bytes: ByteCount, in container: UInt8) {
        device.ledgers[Int(container)].setAside(bytes)
    }

    /// The call takes the bytes, or the files that had them are reinstated.
    public mutating func returnSetAside(_ bytes: ByteCount, in container: UInt8) {
        device.ledgers[Int(container)].returnSetAside(bytes)
    }
}
