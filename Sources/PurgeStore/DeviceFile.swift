import Glibc
import PurgeModel
import PurgeSystem

/// device.json in a store.
struct DeviceFile {
    let place: StoreDirectory

    static let name = "device.json"
    /// The file that a save writes and then renames to device.json; one that was left behind means nothing.
    static let newName = "device.json.new"
    /// In bytes; purgefs writes about a thousand.
    private static let limit = 65536

    /// The state in which device.json was found.
    enum State {
        case missing
        case good(Device)
        case damaged(SettingsDamage, content: [UInt8])
    }

    func state() throws(StoreError) -> State {
        let content: [UInt8]
        do throws(Errno) {
            content = try place.descriptor.openFile(Self.name, O_RDONLY).readAll(limit: Self.limit)
        } catch .noEntry {
            return .missing
        } catch .invalid, Errno(ELOOP) {
            return .damaged(.unreadable("it is not a plain file"), content: [])
        } catch .fileTooLarge {
            return .damaged(.unreadable("it is longer than any that purgefs writes"), content: [])
        } catch { throw .failed("the settings cannot be read", path: place.pathOf(Self.name), error) }
        do {
            return .good(try SettingsDocument.settings(from: content))
        } catch { return .damaged(error, content: content) }
    }

    /// nil where there is no device.json; damage is an error.
    func read() throws(StoreError) -> Device? {
        switch try state() {
        case .missing: nil
        case .good(let settings): settings
        case .damaged(let damage, _): throw damage.error(path: place.pathOf(Self.name), store: place.path)
        }
    }

    func write(_ settings: Device, durably: Bool = true) throws(StoreError) {
        do {
            try replace(with: Self.content(of: settings), durably: durably)
        } catch { throw .failed("the settings cannot be saved", path: place.pathOf(Self.name), error) }
    }

    static func content(of settings: Device) -> [UInt8] {
        Array((JSONText.encode(settings, pretty: true) + "\n").utf8)
    }

    private func replace(with content: [UInt8], durably: Bool) throws(Errno) {
        do {
            let file = try place.makeFresh(Self.newName)
            try file.writeAll(content)
            // XFS and btrfs would rename first and write later, and a loss of power would leave an empty file.
            if !place.isTemporary { try System.sync(file.raw) }
            try System.rename(at: place.descriptor.raw, Self.newName, to: place.descriptor.raw, Self.name)
        } catch {
            try place.remove(Self.newName)
            throw error
        }
        if durably && !place.isTemporary { try System.sync(place.descriptor.raw) }
    }
}
