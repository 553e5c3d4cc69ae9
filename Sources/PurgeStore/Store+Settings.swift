import Glibc
import PurgeModel
import PurgeSystem

extension Store {
    static let settingsName = "device.json"
    /// What a save writes before it takes device.json's place; one that was left behind means nothing.
    static let newSettingsName = "device.json.new"

    /// What device.json says; a fresh device, with an identifier of its own, where there is none.
    public func loadSettings() throws(StoreError) -> DeviceSettings {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            let settings = try readSettings() ?? DeviceSettings.fresh()
            maySave = true
            return settings
        }
    }

    /// Replaces device.json as a whole: after a crash at any moment the old or the new one is there.
    /// One that cannot be read is not replaced.
    public func saveSettings(_ settings: DeviceSettings) throws(StoreError) {
        try maySaveSettings.withLock { (maySave) throws(StoreError) in
            if !maySave {
                _ = try readSettings()
                maySave = true
            }
            do throws(Errno) {
                try write(Array((JSONText.encode(settings, pretty: true) + "\n").utf8))
            } catch { throw .failed("the settings cannot be saved", path: pathOf(Self.settingsName), error) }
        }
    }

    private func readSettings() throws(StoreError) -> DeviceSettings? {
        let path = pathOf(Self.settingsName)
        let content: [UInt8]
        do {
            content = try directory.open(Self.settingsName, O_RDONLY).readAll()
        } catch where error == .noEntry {
            return nil
        } catch where error == .isDirectory || error == Errno(ELOOP) {
            throw SettingsDamage.unreadable("it is not a plain file").error(path: path, store: self.path)
        } catch { throw .failed("the settings cannot be read", path: path, error) }
        do {
            return try SettingsDocument.settings(from: content)
        } catch { throw error.error(path: path, store: self.path) }
    }

    private func write(_ content: [UInt8]) throws(Errno) {
        do {
            let file = try directory.open(Self.newSettingsName, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
            try file.writeAll(content)
            try System.sync(file.raw)
            try System.rename(at: directory.raw, Self.newSettingsName, to: directory.raw, Self.settingsName)
        } catch {
            try removeLeftover()
            throw error
        }
        try System.sync(directory.raw)
    }

    private func removeLeftover() throws(Errno) {
        do { try System.unlink(at: directory.raw, Self.newSettingsName) } catch where error == .noEntry {}
    }
}
