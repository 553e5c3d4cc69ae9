import Glibc
import PurgeModel
import PurgeSystem
import Synchronization

/// The file device.json of a store.
struct DeviceFile {
    let place: StoreDirectory

    static let name = "device.json"
    /// The file that a save writes and then renames to device.json. A file left behind under this name has no meaning.
    static let newName = "device.json.new"
    /// The size in bytes of the largest file that is read. purgefs writes about 1000 bytes, and about 30 more for each of up to
    /// 1000 advances of the clock.
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

    /// Returns the settings, or nil if there is no device.json. Damage is an error.
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

    /// Syncs the file and its name to disk, unless the store is temporary.
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

    /// The settings that this process, or the process that it was forked from, last read or created, with their text. A file
    /// with the same text need not be parsed, for example by the daemon of `purgefs run`.
    private static let last = Mutex<(content: [UInt8], settings: Device)?>(nil)

    /// Returns the settings, or a fresh device's settings if there is no file. Damage is an error.
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
            // XFS and btrfs may write the data after the rename; a power loss would then leave an empty file.
            if !place.isTemporary { try System.sync(file.raw) }
            try System.rename(at: place.descriptor.raw, Self.newName, to: place.descriptor.raw, Self.name)
        } catch {
            try place.remove(Self.newName)
            throw error
        }
        if durably && !place.isTemporary { try System.sync(place.descriptor.raw) }
    }
}
