import Glibc
import PurgeModel
import PurgeSystem

extension StoreDirectory {
    static let settingsName = "device.json"
    /// The file that a save writes and then renames to device.json; one that was left behind means nothing.
    static let newSettingsName = "device.json.new"
    /// In bytes; purgefs writes about a thousand.
    private static let settingsLimit = 65536

    /// The state in which device.json was found.
    enum SettingsState {
        case missing
        case good(Device)
        case damaged(SettingsDamage, content: [UInt8])
    }

    func settingsState() throws(StoreError) -> SettingsState {
        let content: [UInt8]
        do throws(Errno) {
            content = try descriptor.openFile(Self.settingsName, O_RDONLY).readAll(limit: Self.settingsLimit)
        } catch .noEntry {
            return .missing
        } catch .invalid, Errno(ELOOP) {
            return .damaged(.unreadable("it is not a plain file"), content: [])
        } catch .fileTooLarge {
            return .damaged(.unreadable("it is longer than any that purgefs writes"), content: [])
        } catch { throw .failed("the settings cannot be read", path: pathOf(Self.settingsName), error) }
        do {
            return .good(try SettingsDocument.settings(from: content))
        } catch { return .damaged(error, content: content) }
    }

    /// nil where there is no device.json; damage is an error.
    func readSettings() throws(StoreError) -> Device? {
        switch try settingsState() {
        case .missing: nil
        case .good(let settings): settings
        case .damaged(let damage, _): throw damage.error(path: pathOf(Self.settingsName), store: path)
        }
    }

    func writeSettings(_ settings: Device, durably: Bool = true) throws(StoreError) {
        do {
            try replaceSettings(with: Array((JSONText.encode(settings, pretty: true) + "\n").utf8), durably: durably)
        } catch { throw .failed("the settings cannot be saved", path: pathOf(Self.settingsName), error) }
    }

    func makeFresh(_ name: String) throws(Errno) -> FileDescriptor {
        try remove(name)
        let file = try descriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        giveToOwner(file.raw)
        return file
    }

    func remove(_ name: String) throws(Errno) {
        do { try System.unlink(at: descriptor.raw, name) } catch .noEntry {}
    }

    private func replaceSettings(with content: [UInt8], durably: Bool) throws(Errno) {
        do {
            let file = try makeFresh(Self.newSettingsName)
            try file.writeAll(content)
            // XFS and btrfs would rename first and write later, and a loss of power would leave an empty file.
            try System.sync(file.raw)
            try System.rename(at: descriptor.raw, Self.newSettingsName, to: descriptor.raw, Self.settingsName)
        } catch {
            try remove(Self.newSettingsName)
            throw error
        }
        if durably { try System.sync(descriptor.raw) }
    }
}
