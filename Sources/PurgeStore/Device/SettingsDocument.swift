import FoundationEssentials
import PurgeModel

/// The content of device.json: an object of all settings, each exactly as it is written.
enum SettingsDocument {
    /// All the settings, or the first reason why they cannot be used.
    static func settings(from content: [UInt8]) throws(SettingsDamage) -> Device {
        if let settings = asWritten(content) { return settings.roundedToBlocks }
        let given = try object(content)
        try checkVersion(of: given)
        if let settings = whole(given) { return settings.roundedToBlocks }
        // What is wrong with it is found member by member.
        guard given["containerID"] != nil else { throw .value(name: "containerID", "it is missing") }
        var merged = try value(of: Device(containerID: placeholderID))
        for member in ordered(given, as: merged) {
            try validate(take(member, into: &merged))
        }
        if let missing = missing(in: given, of: merged).first { throw missing }
        return try decode(merged, changing: "device.json").roundedToBlocks
    }

    /// Everything that can still be read, with defaults for the rest, and what was lost.
    /// Throws only for a newer version, which is not damage.
    static func salvage(
        from content: [UInt8]
    ) throws(SettingsDamage) -> (settings: Device, lost: [SettingsDamage]) {
        var lost: [SettingsDamage] = []
        var settings = Device.fresh()
        do throws(SettingsDamage) {
            var given = try object(content)
            do throws(SettingsDamage) {
                try checkVersion(of: given)
            } catch {
                if case .newerVersion = error { throw error }
                lost.append(error)
                given["version"] = .integer(1)
            }
            var merged = try value(of: settings)
            lost += missing(in: given, of: merged)
            for member in ordered(given, as: merged) {
                var candidate = merged
                do throws(SettingsDamage) {
                    let changed = try take(member, into: &candidate)
                    try validate(changed)
                    (settings, merged) = (changed, candidate)
                } catch { lost.append(error) }
            }
        } catch {
            if case .newerVersion = error { throw error }
            lost.append(error)
        }
        return (settings.roundedToBlocks, lost)
    }

    /// The settings in a file that is byte for byte what purgefs writes; nil for all others.
    private static func asWritten(_ content: [UInt8]) -> Device? {
        guard JSONValue.depth(of: content) <= deepest else { return nil }
        do {
            let settings = try JSONDecoder().decode(Device.self, from: Data(content))
            guard DeviceFile.content(of: settings) == content else { return nil }
            try settings.validate()
            return settings
        } catch { return nil }
    }

    private static let placeholderID = "00000000-0000-0000-0000-000000000000"

    /// Levels of nested brackets; purgefs writes two. The decoder recurses without a limit that a
    /// thread's stack would allow.
    private static let deepest = 16

    private static func object(_ content: [UInt8]) throws(SettingsDamage) -> JSONValue {
        let value: JSONValue
        guard JSONValue.depth(of: content) <= deepest else { throw .unreadable("it is nested too deeply") }
        do {
            value = try JSONDecoder().decode(JSONValue.self, from: Data(content))
        } catch { throw .unreadable(content.isEmpty ? "the file is empty" : "it is not JSON") }
        guard value.members != nil else { throw .unreadable("it is not a JSON object") }
        return value
    }

    private static func checkVersion(of object: JSONValue) throws(SettingsDamage) {
        switch object["version"] {
        case .integer(Int64(Device.version)): break
        case .integer(let version) where version > Device.version: throw .newerVersion(version)
        case nil: throw .value(name: "version", "it is missing")
        default: throw .value(name: "version", "it is not 1")
        }
    }

    /// nil if anything is wrong.
    private static func whole(_ given: JSONValue) -> Device? {
        do throws(SettingsDamage) {
            let settings = try decode(given, changing: "")
            guard try value(of: settings).sorted == given.sorted else { return nil }
            try validate(settings)
            return settings
        } catch { return nil }
    }

    /// In the order of declaration, so that a value is checked after those that it depends on.
    private static func ordered(_ given: JSONValue, as model: JSONValue) -> [JSONValue.Member] {
        let names = (model.members ?? []).map(\.name)
        let optional = Device.optionalMembers.filter { !names.contains($0) }
        let known = (names + optional).compactMap { name in
            given[name].map { JSONValue.Member(name: name, value: $0) }
        }
        return known + (given.members ?? []).filter { member in !known.contains { $0.name == member.name } }
    }

    private static func missing(in given: JSONValue, of model: JSONValue) -> [SettingsDamage] {
        (model.members ?? []).filter { given[$0.name] == nil }.map { .value(name: $0.name, "it is missing") }
    }

    /// The settings with one more member. Encoded again, it must be the same: a name within it that is
    /// unknown or missing is damage as well.
    private static func take(
        _ member: JSONValue.Member, into merged: inout JSONValue
    ) throws(SettingsDamage) -> Device {
        guard merged[member.name] != nil || Device.optionalMembers.contains(member.name) else {
            throw .value(name: member.name, "there is no such setting")
        }
        merged[member.name] = member.value
        let settings = try decode(merged, changing: member.name)
        guard try value(of: settings)[member.name]?.sorted == member.value.sorted else {
            throw .value(name: member.name, "it cannot be understood")
        }
        return settings
    }

    private static func validate(_ device: Device) throws(SettingsDamage) {
        do throws(DeviceFault) { try device.validate() } catch { throw .value(name: error.name, error.reason) }
    }

    private static func value(of settings: Device) throws(SettingsDamage) -> JSONValue {
        do {
            return try JSONValueEncoder.encode(settings)
        } catch { throw .unreadable(String(describing: error)) }
    }

    private static func decode(_ value: JSONValue, changing name: String) throws(SettingsDamage) -> Device {
        do {
            return try JSONDecoder().decode(Device.self, from: Data(Array(value.text().utf8)))
        } catch { throw .value(name: name, "it cannot be understood") }
    }
}
