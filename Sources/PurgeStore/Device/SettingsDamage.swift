import PurgeSystem

/// Why device.json cannot be used.
enum SettingsDamage: Error, Hashable {
    /// The entry is not a plain file, is too long, or has content that cannot be parsed as a JSON object.
    case unreadable(String)
    case value(name: String, String)
    case newerVersion(Int64)

    var what: String {
        switch self {
        case .unreadable(let reason): "the settings are damaged: \(reason)"
        case .value(let name, let reason): "the settings hold a wrong value of `\(Self.visible(name))`: \(reason)"
        case .newerVersion(let version):
            "the settings were written by a newer purgefs (format \(version); this one knows 1)"
        }
    }

    /// Returns at most 64 Unicode scalars of the name, with `?` for ASCII control characters. In a damaged file, a name can be
    /// anything, even a sequence that controls the terminal.
    static func visible(_ name: String) -> String {
        String(name.unicodeScalars.prefix(64).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
    }

    var isRepairable: Bool { if case .newerVersion = self { false } else { true } }

    func advice(store: String) -> String {
        switch self {
        case .unreadable, .value:
            "Repair the file by hand, or run `purgefs check --repair \(ShellWord.of(store))`: it keeps the file aside "
                + "and writes a new one with the default settings."
        case .newerVersion:
            "Use that version of purgefs; this one leaves the file alone."
        }
    }

    func error(path: String, store: String) -> StoreError {
        StoreError(what, path: path, advice: advice(store: store))
    }
}
