import PurgeModel
import PurgeSystem
import Synchronization

extension Store {
    /// Returns the settings in device.json. If there is no such file, returns a fresh device's settings with a new identifier.
    public func loadSettings() throws(StoreError) -> Device {
        try settings.withLock { (known) throws(StoreError) in try known.load(from: DeviceFile(place: place)) }
    }

    /// Replaces device.json as a whole, so after a crash either the old or the new file is there. Unless the settings were
    /// loaded before, this first reads the file, and throws instead of replacing a damaged one. A file that already has this
    /// content is kept. With `durably`, the new file also survives a crash of the machine once this returns; otherwise such a
    /// crash may bring back the old one.
    public func saveSettings(_ device: Device, durably: Bool = true) throws(StoreError) {
        try settings.withLock { (known) throws(StoreError) in
            try known.save(device, durably: durably, to: DeviceFile(place: place))
        }
    }
}

/// The state of device.json, as an open store has last loaded or saved it.
struct KnownSettings {
    /// Whether the file is known to be readable or missing, so that a save may replace it; if false, a save reads it first.
    private var maySave = false
    /// The content of device.json if it is known to be synced to disk; otherwise nil.
    private var durable: [UInt8]?
    /// Whether a save has failed and may have left its new file, which the next save removes.
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
