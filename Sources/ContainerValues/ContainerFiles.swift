#if os(Linux)
public import Foundation

/// A `FileManager` that handles protection classes on a mount of purgefs. Elsewhere it behaves as Foundation's. It is a
/// subclass, so apps can still subclass FileManager and declare protocols for its methods.
public final class ContainerFiles: FileManager, @unchecked Sendable {
    // @unchecked: it has no state of its own, and `FileManager` is Sendable.
    public static let shared: FileManager = ContainerFiles()

    /// Returns the attributes of an item. In a container they include `.protectionKey` for each file, and for each folder that
    /// has a class for its new entries.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    public override func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        var attributes = try super.attributesOfItem(atPath: path)
        if let name = ProtectedItems.className(ofItemAtPath: path) {
            attributes[.protectionKey] = FileProtectionType(rawValue: name)
        }
        return attributes
    }

    /// Sets attributes of an item, including `.protectionKey`, which is ignored outside a container.
    /// - Throws: `CocoaError.fileNoSuchFile`, `.fileWriteNoPermission` and related errors.
    public override func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        let (wanted, others) = ProtectedItems.split(attributes)
        try super.setAttributes(others ?? [:], ofItemAtPath: path)
        if let wanted { try ProtectedItems.setClass(wanted, ofItemAtPath: path) }
    }

    /// Creates a folder with attributes, including `.protectionKey`.
    /// - Throws: `CocoaError.fileWriteFileExists`, `.fileWriteNoPermission` and related errors.
    public override func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        let (wanted, others) = ProtectedItems.split(attributes)
        try creatingFolders(url.path, wanted) {
            try super.createDirectory(
                at: url, withIntermediateDirectories: createIntermediates, attributes: others)
        }
    }

    /// Creates a folder with attributes, including `.protectionKey`.
    /// - Throws: `CocoaError.fileWriteFileExists`, `.fileWriteNoPermission` and related errors.
    public override func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        let (wanted, others) = ProtectedItems.split(attributes)
        try creatingFolders(path, wanted) {
            try super.createDirectory(
                atPath: path, withIntermediateDirectories: createIntermediates, attributes: others)
        }
    }

    /// Gives a class to every folder that `body` creates for the path; existing folders keep theirs.
    private func creatingFolders(_ path: String, _ wanted: String?, _ body: () throws -> Void) throws {
        var new: [String] = []
        var folder = URL(fileURLWithPath: path)
        while wanted != nil, ItemAttributes(at: folder.path) == nil, folder.path != "/" {
            new.append(folder.path)
            folder.deleteLastPathComponent()
        }
        try body()
        if let wanted { for folder in new { try ProtectedItems.setClass(wanted, ofItemAtPath: folder) } }
    }

    /// Creates a file with attributes, including `.protectionKey`. Returns false on failure. Foundation's method saves
    /// atomically, so here the file gets its class before its name.
    @discardableResult
    public override func createFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        let (wanted, others) = ProtectedItems.split(attributes)
        let url = URL(fileURLWithPath: path)
        guard let wanted, ProtectedItems.isInContainer(url, followingLink: false) else {
            return super.createFile(atPath: path, contents: data, attributes: others)
        }
        do {
            try ProtectedItems.replace(url, by: data ?? Data(), of: wanted)
            if let others { try super.setAttributes(others, ofItemAtPath: path) }
            return true
        } catch {
            return false
        }
    }

    /// Returns the attributes of a volume. In a container, "/" is on the simulated device, as on a phone, which has one volume.
    /// - Throws: `CocoaError.fileReadNoSuchFile` and related errors.
    public override func attributesOfFileSystem(forPath path: String) throws -> [FileAttributeKey: Any] {
        try super.attributesOfFileSystem(forPath: ItemAttributes.container(ifRoot: path) ?? path)
    }
}
#endif
