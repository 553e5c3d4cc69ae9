import PurgeModel
import PurgeSystem

extension Store {
    /// What device.json says; a fresh device, with an identifier of its own, where there is none.
    public func loadSettings() throws(StoreError) -> Device {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            let settings = try place.readSettings() ?? Device.fresh()
            maySave = true
            return settings
        }
    }

    /// Replaces device.json as a whole: after a crash at any moment the old or the new one is there.
    /// One that cannot be read is not replaced. `durably`: the new one outlives a crash of the machine
    /// once this returns; without, the old or the new one does.
    public func saveSettings(_ settings: Device, durably: Bool = true) throws(StoreError) {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            if !maySave {
                _ = try place.readSettings()
                maySave = true
            }
            try place.writeSettings(settings, durably: durably)
        }
    }
}
