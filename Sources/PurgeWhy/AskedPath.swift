import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// A path in a container that the user asks about. The file and the folders above it may be gone, so the missing part of the
/// path is taken literally.
struct AskedPath {
    let target: Target
    /// The path relative to the container, byte for byte; never empty.
    let inner: [UInt8]
    /// The path that the user named, or the target of the link that the user named, if it leads into an earlier container.
    let former: FormerPath?

    private static let slash = UInt8(ascii: "/")
    private static let what = "cannot say why"

    /// The path as events spell it: bytes that are not UTF-8 become U+FFFD.
    var text: String { String(decoding: inner, as: UTF8.self) }
    var isUTF8: Bool { String(path: inner) != nil }

    /// The directory through which the container is visible.
    var root: String { target.root }

    /// The absolute path, whether or not it exists.
    var place: [UInt8] { Array(root.utf8) + [Self.slash] + inner }

    /// Resolves a path from the command line. A symbolic link in the last component is not followed. `container` is the
    /// container of a path that leads into an earlier one.
    init(_ raw: RawText, in container: String? = nil) throws(CommandFailure) {
        let text = Places.text(raw)
        let bytes = raw.dropLast().map { UInt8(bitPattern: $0) }
        let url = bytes.starts(with: "file:/".utf8) ? ContainerPath(bytes[...]) : nil
        if url == nil, let found = try Self.find(bytes, text) {
            guard container == nil else {
                throw .usage("\(VisibleText.of(text)) is in a container: only a path of an earlier one needs a TARGET")
            }
            (target, inner, former) = (found.target, found.inner, FormerPath(targetOf: found))
        } else if let path = url ?? ContainerPath(bytes[...]) {
            target = try FormerPath.target(of: path, named: container, text)
            inner = path.inner
            former = FormerPath(path, text, in: target)
        } else {
            throw CommandFailure(
                Self.what, path: text, "it is not in a container",
                advice: "Name a path in a mount, or in the container/ of a store; it may be gone.")
        }
        if inner.isEmpty {
            throw .usage("\(VisibleText.of(text)) is a container itself: name a file or folder in it")
        }
        if inner.split(separator: Self.slash).first?.elementsEqual(ControlFile.directory.utf8) ?? false {
            throw CommandFailure(
                Self.what, path: text, "it is the control directory", advice: "Name files of the app.")
        }
        if try isElsewhere() {
            throw CommandFailure(
                Self.what, path: text, "another file system is mounted over it",
                advice: "Files of that file system are not part of the container.")
        }
    }
}

extension AskedPath {
    private static func find(_ bytes: [UInt8], _ text: String) throws(CommandFailure) -> PathInContainer? {
        let path: [UInt8]
        do throws(Errno) { path = try absolute(bytes) } catch { throw CommandFailure(what, path: text, error) }
        return try PathInContainer.find(path, isLink: isLink(path))
    }

    /// Resolves symbolic links above the last component, as far as the folders exist. Keeps the rest literally, except for `.`
    /// and `..`.
    private static func absolute(_ path: [UInt8]) throws(Errno) -> [UInt8] {
        if path.isEmpty { throw .noEntry }
        let whole = path.first == slash ? path : try workingDirectory() + [slash] + path
        let names = whole.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
        let isUp = names.last?.elementsEqual("..".utf8) ?? true
        for count in stride(from: isUp ? names.count : names.count - 1, through: 0, by: -1) {
            let above = count == 0 ? [slash] : names[..<count].flatMap { [slash] + $0 }
            if let folder = try resolved(above) { return joined(folder, names[count...]) }
        }
        return joined([], names[...])
    }

    /// Returns nil if the path does not exist, is too long, or leads through a loop of symbolic links.
    private static func resolved(_ path: [UInt8]) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            return try System.resolved(path.map(CChar.init(bitPattern:)) + [0])
        } catch .noEntry { return nil } catch .notDirectory { return nil } catch .nameTooLong { return nil } catch {
            if error == Errno(ELOOP) { return nil }
            throw error
        }
    }

    private static func joined(_ folder: [UInt8], _ names: some Sequence<ArraySlice<UInt8>>) -> [UInt8] {
        var all = folder.split(separator: slash)
        for name in names {
            if !name.elementsEqual("..".utf8) { all.append(name) } else if !all.isEmpty { all.removeLast() }
        }
        return all.isEmpty ? [slash] : all.flatMap { [slash] + $0 }
    }

    /// Returns the path of the working directory, or its former path if it was deleted.
    private static func workingDirectory() throws(Errno) -> [UInt8] {
        if let path = try resolved([UInt8(ascii: ".")]) { return path }
        let path = try System.readLink(at: AT_FDCWD, "/proc/self/cwd").map { UInt8(bitPattern: $0) }
        let mark = Array(" (deleted)".utf8)
        guard path.first == slash, path.suffix(mark.count).elementsEqual(mark) else { throw .noEntry }
        return path.dropLast(mark.count)
    }

    private static func isLink(_ path: [UInt8]) -> Bool {
        do throws(Errno) {
            return try System.status(at: AT_FDCWD, path.map(CChar.init(bitPattern:)) + [0]).isLink
        } catch { return false }
    }

    /// Returns true if another file system, mounted below the container's mount point, covers this path.
    private func isElsewhere() throws(CommandFailure) -> Bool {
        guard case .mount(let mount) = target else { return false }
        do throws(Errno) {
            let status = try System.status(at: AT_FDCWD, place.map(CChar.init(bitPattern:)) + [0])
            return try System.status(ofPath: mount).st_dev != status.st_dev
        } catch { return false }  // the file is gone, or the container is just being unmounted
    }
}

extension Target {
    /// The directory through which the container is visible.
    fileprivate var root: String {
        switch self {
        case .mount(let mount): mount
        case .store(let store): store + "/container"
        }
    }

    fileprivate var storePath: String? {
        switch self {
        case .mount(let mount): MountEntry.container(at: mount)?.source
        case .store(let store): store
        }
    }
}

extension FormerPath {
    /// Returns nil for anything but a link into an earlier container.
    fileprivate init?(targetOf link: PathInContainer) {
        let name = Array(link.target.root.utf8) + [UInt8(ascii: "/")] + link.inner
        let text: [UInt8]
        do throws(Errno) {
            text = try System.readLink(at: AT_FDCWD, name.map(CChar.init(bitPattern:)) + [0]).map(
                UInt8.init(bitPattern:))
        } catch { return nil }
        guard let path = ContainerPath(text[...]) else { return nil }
        self.init(path, String(decoding: text, as: UTF8.self), in: link.target)
    }

    /// Returns nil if the container still has the UUID, so that the path is only one of another mount point.
    fileprivate init?(_ path: ContainerPath, _ text: String, in target: Target) {
        let lives = target.storePath.map { ContainerLives(store: $0) }
        guard lives?.present != path.container else { return nil }
        let inner = path.inner.isEmpty ? "" : "/" + String(decoding: path.inner, as: UTF8.self)
        self.init(
            path: text, container: path.container, place: (Places.resolved(target.root) ?? target.root) + inner,
            event: lives?.end(of: path.container))
    }
}
