import PurgeModel

/// The settings of a new device, with the values of damaged settings on which the files and events in the store depend. Each
/// such value is kept if it is readable, and valid together with the values kept before it.
struct SettingsSalvage {
    private(set) var settings = Device.fresh()
    private var kept: [String] = []
    private var lost: [String] = []

    init(_ content: [UInt8]) {
        let content = SettingsDocument.isDocument(content) ? content : SettingsDocument.wholeLines(of: content)
        // An app may have stored paths that contain the identifier.
        keep("containerID", of: content) { $0.containerID = $1 }
        // A smaller device would purge caches, and a smaller journal would drop events.
        keep("total", of: content) { $0.total = $1 }
        keep("journalSize", of: content, isOptional: true) { $0.journal.size = $1 }
        // Files without a class of their own have the device's default class.
        keep("protection", of: content) { $0.protection = $1 }
        keep("clock", of: content, isOptional: true) { $0.clock = $1 }
        keep("clockAdvances", of: content, isOptional: true) { $0.history = $1 }
        keep("unfinished", of: content, isOptional: true) { (device, work: DeviceWork) in device.unfinished = work }
    }

    private mutating func keep<Value: Decodable>(
        _ name: String, of content: [UInt8], isOptional: Bool = false, _ set: (inout Device, Value) -> Void
    ) {
        do {
            guard let value = try SettingsDocument.value(of: name, Value.self, in: content) else {
                if !isOptional { lost.append(name) }
                return
            }
            var changed = settings
            set(&changed, value)
            try changed.validate()
            settings = changed
            kept.append(name)
        } catch { lost.append(name) }
    }

    /// A sentence that names the values kept and the settings that have their defaults.
    var text: String {
        if kept.isEmpty { return "All settings have their defaults." }
        let others = lost.isEmpty ? "all other settings have" : "\(Self.list(lost + ["all other settings"])) have"
        return "\(Self.list(kept)) \(kept.count == 1 ? "was" : "were") kept; \(others) their defaults."
    }

    private static func list(_ names: [String]) -> String {
        let words = names.map { $0.contains(" ") ? $0 : "`\($0)`" }
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) and \(last)"
    }
}
