import PurgeModel
import PurgeSystem
import Synchronization

extension Store {
    /// The settings in device.json; if there is none, those of a fresh device with an identifier of its own.
    public func loadSettings() throws(StoreError) -> Device {
        try settings.withLock { (known) throws(StoreError) in try known.load(from: DeviceFile(place: place)) }
    }

    /// Replaces device.json as a whole: after a crash at any moment either the old or the new one is there.
    /// A file that cannot be read is not replaced, and one that has this content already stays. With `durably`, the new
    /// one survives a crash of the machine once this returns; without it, either the old or the new one does.
    public func saveSettings(_ device: Device, durably: Bool = true) throws(StoreError) {
        try settings.withLock { (known) throws(StoreError) in
            try known.save(device, durably: durably, to: DeviceFile(place: place))
        }
    }
}

/// What a store knows about its device.json.
struct KnownSettings {
    /// Whether it is readable or missing, so that it may be replaced.
    private var maySave = false
    /// What it has had since it was last made to reach the disk; nil if that was not done.
    private var durable: [UInt8]?
    /// Whether a save has failed, and may have left its new file; the next one removes that.
    private var hasFailed = false

    mutating func load(from file: DeviceFile) throws(StoreError) -> Device {
        let settings = try file.load()
        (maySave, durable) = (true, nil)
        return settings
    }

    mutating func save(_ settings: Device, durably: Bool, to file: DeviceFile) throws(StoreError) {
        if !maySave {
            _ = try file.read()
            maySave = true
        }
        let content = DeviceFile.content(of: settings)
        if !hasFailed, file.has(content) {
            if durably, durable != content { try file.sync() }
        } else {
            (durable, hasFailed) = (nil, true)
            try file.write(content, durably: durably)
            hasFailed = false
        }
        if durably { durable = content }
    }
}
