import PurgeModel

// The device changes by its own rules, and its ledgers only with the files. Nothing outside of the tree can set either.
extension Tree {
    /// Carries out a change that a user asks for: see `Device.apply`.
    public mutating func apply(
        _ change: DeviceChange, as text: String, by pid: Int32
    ) throws(DeviceRefusal) -> [DeviceEffect] {
        try device.apply(change, as: text, by: pid)
    }

    /// Brings the level in line with free space.
    public mutating func judgePressure() -> LevelChange? { device.judgePressure() }

    /// A purge takes whole blocks of what the system and other apps can free.
    public mutating func takeFromOthers(_ bytes: ByteCount) { device.takeFromOthers(bytes) }

    /// The purge that took them does not take place.
    public mutating func returnToOthers(_ bytes: ByteCount) { device.returnToOthers(bytes) }

    public mutating func notePurged(files: Int64 = 0, bytes: ByteCount) {
        device.notePurged(files: files, bytes: bytes)
    }

    public mutating func noteRefused() { device.noteRefused() }
}

// Bytes of chosen files that belong to no file until a call has enough of them.
extension Tree {
    /// Sets bytes aside for a call that needs room in this container. The files that had them have been chosen.
    public mutating func setAside(_ bytes: ByteCount, in container: UInt8) {
        device.ledgers[Int(container)].setAside(bytes)
    }

    /// The call takes the bytes, or the files that had them are reinstated.
    public mutating func returnSetAside(_ bytes: ByteCount, in container: UInt8) {
        device.ledgers[Int(container)].returnSetAside(bytes)
    }
}
