#if os(Linux)
public import Foundation
import Glibc

/// Implements the protection classes of `Data` on a mount of purgefs, and the parts that `ContainerFiles` shares. Elsewhere no
/// classes exist, and the calls are Foundation's.
public enum ProtectedItems {
    /// Implements `Data.write(to:options:)`. If the options name no class, Foundation writes the file: a file that is
    /// overwritten in place keeps its class, and an atomic save makes a new file with its folder's class. Otherwise a new file
    /// gets its class before any data, and in an atomic save also before its name. A link is followed, but an atomic save
    /// replaces it.
    public static func write(_ data: Data, to url: URL, options: Data.WritingOptions) throws {
        let isAtomic = options.contains(.atomic)
        guard let wanted = name(of: options), url.isFileURL, isInContainer(url, followingLink: !isAtomic) else {
            return try data.write(to: url, options: options)
        }
        if isAtomic {
            try replace(url, by: data, of: wanted)
        } else {
            try write(data, of: wanted, to: url.path, options: options.subtracting(.fileProtectionMask))
        }
    }

    /// Saves a file atomically. The new file gets the class `wanted` before its data and its name.
    static func replace(_ url: URL, by data: Data, of wanted: String) throws {
        // This name is no longer than Foundation's temporary names. The file's own name plus a suffix could exceed the maximum
        // length.
        let new = url.deletingLastPathComponent().appendingPathComponent(".dat.nosync\(UUID().uuidString)")
        try write(data, of: wanted, to: new.path, options: .withoutOverwriting)
        guard rename(new.path, url.path) == 0 else {
            let failure = ItemFailure.writing(errno, url.path)
            unlink(new.path)
            throw failure
        }
    }

    static func isInContainer(_ url: URL, followingLink: Bool) -> Bool {
        if followingLink, let item = ItemAttributes(at: url.path) { return item.isInContainer }
        return ItemAttributes(at: url.deletingLastPathComponent().path)?.isInContainer ?? false
    }

    private static func write(_ data: Data, of wanted: String, to path: String, options: Data.WritingOptions) throws {
        let mayExist = !options.contains(.withoutOverwriting)
        let descriptor = make(path, throughLink: mayExist)
        guard descriptor >= 0 else {
            if mayExist { try setClass(wanted, ofItemAtPath: path) }
            return try data.write(to: URL(fileURLWithPath: path), options: options)
        }
        defer { close(descriptor) }
        do {
            try setClass(wanted, ofItemAtPath: path)
            // Writes through the descriptor, because a file of class completeUnlessOpen cannot be opened again while the device
            // is locked.
            try write(data, to: descriptor, path)
        } catch {
            unlink(target(of: path))
            throw error
        }
    }

    private static func write(_ data: Data, to descriptor: Int32, _ path: String) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno != EINTR { throw ItemFailure.writing(errno, path) }
                rest = rest.dropFirst(max(0, count))
            }
        }
    }

    /// Returns the descriptor of a new, empty file; -1 if the file exists or cannot be created. With `throughLink`, the file
    /// may also be the missing target of a link.
    private static func make(_ path: String, throughLink: Bool) -> Int32 {
        var status = stat()
        let leadsNowhere = throughLink && lstat(path, &status) == 0 && stat(path, &status) != 0 && errno == ENOENT
        return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (leadsNowhere ? 0 : O_EXCL), 0o666)
    }

    private static let flagName = "fileProtection"

    /// Returns the class of an item; nil if it has none, or is not in a container.
    static func className(ofItemAtPath path: String) -> String? {
        ItemAttributes(at: path).flatMap { $0.isInContainer ? $0.flag(flagName) : nil }
    }

    /// Separates the class from the other attributes.
    static func split(
        _ attributes: [FileAttributeKey: Any]?
    ) -> (wanted: String?, others: [FileAttributeKey: Any]?) {
        guard var others = attributes, let wanted = others.removeValue(forKey: .protectionKey) else {
            return (nil, attributes)
        }
        return ((wanted as? FileProtectionType)?.rawValue ?? wanted as? String, others)
    }

    /// Returns the class that the options name, if any.
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

    /// Returns the path with all links resolved, or the path itself if that fails.
    private static func target(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Sets the class of an item. As with other attributes, a link stands for its target. Does nothing off a mount of purgefs,
    /// and for special files.
    static func setClass(_ name: String, ofItemAtPath path: String) throws {
        let path = target(of: path)
        guard let item = ItemAttributes(at: path) else { throw ItemFailure.writing(errno, path) }
        if item.hasFlags, item.isInContainer { try item.setFlag(flagName, to: name) }
    }
}

// These conformances exist on iOS. In Swift 6.3's Foundation for Linux, `FileProtectionType` has only `rawValue`. Remove
// these extensions once Foundation declares the conformances.
extension FileProtectionType: @retroactive Equatable {}
extension FileProtectionType: @retroactive Hashable {}
#endif
