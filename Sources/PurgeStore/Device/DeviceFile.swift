import Glibc
import PurgeModel
import PurgeSystem
import Synchronization

/// device.json in a store.
struct DeviceFile {
    let place: StoreDirectory

    static let name = "device.json"
    /// The file that a save writes and then renames to device.json; one that was left behind means nothing.
    static let newName = "device.json.new"
    /// In bytes; purgefs writes about a thousand.
    private static let limit = 65536

    enum Content {
        case missing
        case unreadable(SettingsDamage)
        case readable([UInt8])
    }

    func content() throws(StoreError) -> Content {
        do throws(Errno) {
            return .readable(try place.descriptor.openFile(Self.name, O_RDONLY).readAll(limit: Self.limit))
        } catch .noEntry {
            return .missing
        } catch .invalid, Errno(ELOOP) {
            return .unreadable(.unreadable("it is not a plain file"))
        } catch .fileTooLarge {
            return .unreadable(.unreadable("it is longer than any that purgefs writes"))
        } catch { throw .failed("the settings cannot be read", path: place.pathOf(Self.name), error) }
    }

    /// nil where there is no device.json; damage is an error.
    func read() throws(StoreError) -> Device? {
        switch try content() {
        case .missing: nil
        case .unreadable(let damage): throw damage.error(path: place.pathOf(Self.name), store: place.path)
        case .readable(let content): try settings(from: content)
        }
    }

    func write(_ settings: Device, durably: Bool = true) throws(StoreError) {
        try write(Self.content(of: settings), durably: durably)
    }

    func write(_ content: [UInt8], durably: Bool) throws(StoreError) {
        do { try replace(with: content, durably: durably) } catch { throw saving(error) }
    }

    /// Has it and its name reach the disk.
    func sync() throws(StoreError) {
        if place.isTemporary { return }
        do {
            let file = try place.descriptor.openFile(Self.name, O_RDONLY)
            try System.sync(file.raw)
            try System.sync(place.descriptor.raw)
        } catch { throw saving(error) }
    }

    private func saving(_ error: Errno) -> StoreError {
        .failed("the settings cannot be saved", path: place.pathOf(Self.name), error)
    }

    func has(_ content: [UInt8]) -> Bool {
        do throws(Errno) {
            return try place.descriptor.openFile(Self.name, O_RDONLY).readAll(limit: Self.limit) == content
        } catch { return false }
    }

    /// Settings that were made or read by this process, or by the one that it is a copy of, and what is in a file of them:
    /// the daemon of `purgefs run` need not take the file apart that it has just been left.
    private static let last = Mutex<(content: [UInt8], settings: Device)?>(nil)

    /// The settings, those of a fresh device if there is no file. Damage is an error.
    func load() throws(StoreError) -> Device {
        if let settings = try read() { return settings }
        let settings = Device.fresh()
        Self.last.withLock { $0 = (Self.content(of: settings), settings) }
        return settings
    }

    private func settings(from content: [UInt8]) throws(StoreError) -> Device {
        if let known = Self.last.withLock({ $0?.content == content ? $0?.settings : nil }) { return known }
        do {
            let settings = try SettingsDocument.settings(from: content)
            Self.last.withLock { $0 = (content, settings) }
            return settings
        } catch { throw error.error(path: place.pathOf(Self.name), store: place.path) }
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
