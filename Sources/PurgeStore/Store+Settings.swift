import PurgeModel
import PurgeSystem

extension Store {
    /// What device.json says; a fresh device, with an identifier of its own, where there is none.
    public func loadSettings() throws(StoreError) -> DeviceSettings {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            let settings = try place.readSettings() ?? DeviceSettings.fresh()
            maySave = true
            return settings
        }
    }

    /// Replaces device.json as a whole: after a crash at any moment the old or the new one is there.
    /// One that cannot be read is not replaced. `durably` is for a crash of the machine; that of a
    /// process loses nothing either way.
    public func saveSettings(_ settings: DeviceSettings, durably: Bool = true) throws(StoreError) {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            if !maySave {
                _ = try place.readSettings()
                maySave = true
            }
            try place.writeSettings(settings, durably: durably)
        }
    }
}
