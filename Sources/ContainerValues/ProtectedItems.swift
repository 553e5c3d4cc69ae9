#if os(Linux)
public import Foundation
import Glibc

/// What FileManager and Data do with protection classes, on a mount of purgefs. Elsewhere there are none, and the calls are
/// Foundation's.
public enum ProtectedItems {
    /// `Data.write(to:options:)`. A file that is there keeps its class if the options name none. One that is made has its class before
    /// it has data; an atomic save gives it to the new file before that has the name.
    public static func write(_ data: Data, to url: URL, options: Data.WritingOptions) throws {
        let plain = options.subtracting(.fileProtectionMask)
        guard let wanted = name(of: options), url.isFileURL, isInContainer(url.deletingLastPathComponent().path) else {
            return try data.write(to: url, options: options)
        }
        if options.contains(.atomic) {
            let folder = url.deletingLastPathComponent()
            let new = folder.appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
            try write(data, of: wanted, to: new, options: plain.subtracting(.atomic).union(.withoutOverwriting))
            guard rename(new.path, url.path) == 0 else {
                let failure = ItemFailure.writing(errno, url.path)
                unlink(new.path)
                throw failure
            }
        } else {
            try write(data, of: wanted, to: url, options: plain)
        }
    }

    private static func write(_ data: Data, of wanted: String, to url: URL, options: Data.WritingOptions) throws {
        let isNew = make(url.path)
        do {
            if isNew || !options.contains(.withoutOverwriting) {
                try setClass(wanted, ofItemAtPath: url.path)
            }
            try data.write(to: url, options: isNew ? options.subtracting(.withoutOverwriting) : options)
        } catch {
            if isNew { unlink(url.path) }
            throw error
        }
    }

    /// Makes an empty file, if there is none.
    private static func make(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// `FileManager.attributesOfItem(atPath:)`
    public static func attributes(ofItemAtPath path: String, _ files: FileManager) throws -> [FileAttributeKey: Any] {
        var attributes = try files.attributesOfItem(atPath: path)
        if let item = ItemAttributes(at: path), item.isInContainer, let name = item.flag(flagName) {
            attributes[.protectionKey] = FileProtectionType(rawValue: name)
        }
        return attributes
    }

    /// `FileManager.setAttributes(_:ofItemAtPath:)`
    public static func set(
        _ attributes: [FileAttributeKey: Any], ofItemAtPath path: String, _ files: FileManager
    ) throws {
        let (wanted, others) = split(attributes)
        try files.setAttributes(others ?? [:], ofItemAtPath: path)
        if let wanted { try setClass(wanted, ofItemAtPath: path) }
    }

    /// `FileManager.createDirectory(atPath:withIntermediateDirectories:attributes:)`. A folder that is there already stays as it is.
    public static func createFolder(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]?,
        _ files: FileManager
    ) throws {
        let (wanted, others) = split(attributes)
        let isNew = ItemAttributes(at: path) == nil
        try files.createDirectory(
            atPath: path, withIntermediateDirectories: createIntermediates, attributes: others)
        if isNew, let wanted { try setClass(wanted, ofItemAtPath: path) }
    }

    /// `FileManager.createFile(atPath:contents:attributes:)`
    public static func createFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]?, _ files: FileManager
    ) -> Bool {
        let (wanted, others) = split(attributes)
        guard files.createFile(atPath: path, contents: data, attributes: others) else { return false }
        guard let wanted else { return true }
        do { try setClass(wanted, ofItemAtPath: path) } catch { return false }
        return true
    }

    private static let flagName = "fileProtection"

    private static func isInContainer(_ path: String) -> Bool {
        ItemAttributes(at: path)?.isInContainer ?? false
    }

    /// The class among attributes, and the others.
    private static func split(
        _ attributes: [FileAttributeKey: Any]?
    ) -> (wanted: String?, others: [FileAttributeKey: Any]?) {
        guard var others = attributes, let wanted = others.removeValue(forKey: .protectionKey) else {
            return (nil, attributes)
        }
        return ((wanted as? FileProtectionType)?.rawValue ?? wanted as? String, others)
    }

    /// The class that options name; nil if they name none.
    private static func name(of options: Data.WritingOptions) -> String? {
        switch options.intersection(.fileProtectionMask) {
        case .noFileProtection: "NSFileProtectionNone"
        case .completeFileProtection: "NSFileProtectionComplete"
        case .completeFileProtectionUnlessOpen: "NSFileProtectionCompleteUnlessOpen"
        case .completeFileProtectionUntilFirstUserAuthentication: "NSFileProtectionCompleteUntilFirstUserAuthentication"
        case .init(rawValue: 0x5000_0000): "NSFileProtectionCompleteWhenUserInactive"
        default: nil
        }
    }

    private static func setClass(_ name: String, ofItemAtPath path: String) throws {
        guard let item = ItemAttributes(at: path) else { throw ItemFailure.writing(errno, path) }
        if item.hasFlags, item.isInContainer { try item.setFlag(flagName, to: name) }
    }
}

// As on iOS. Swift 6.3's Foundation for Linux has only `rawValue`; this may go when it has them.
extension FileProtectionType: @retroactive Equatable {}
extension FileProtectionType: @retroactive Hashable {}
#endif
