import PurgeModel
import PurgeSystem

extension Store {
    /// The settings in device.json; if there is none, those of a fresh device with an identifier of its own.
    public func loadSettings() throws(StoreError) -> Device {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            let settings = try DeviceFile(place: place).read() ?? Device.fresh()
            maySave = true
            return settings
        }
    }

    /// Replaces device.json as a whole: after a crash at any moment either the old or the new one is there.
    /// A file that cannot be read is not replaced. With `durably`, the new one survives a crash of the machine
    /// once this returns; without it, either the old or the new one does.
    public func saveSettings(_ settings: Device, durably: Bool = true) throws(StoreError) {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            if !maySave {
                _ = try DeviceFile(place: place).read()
                maySave = true
            }
            try DeviceFile(place: place).write(settings, durably: durably)
        }
    }
}
