import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem
import PurgeVolume

/// A file or folder of a container, as a user names it: by a path in a mount, or in the `container/` of a store.
package struct PathInContainer {
    /// The container.
    package let target: Target
    /// The path relative to the container, byte for byte; empty for the container itself.
    package let inner: [UInt8]

    private static let slash = UInt8(ascii: "/")

    /// Finds the path. A symbolic link as the last component stands for itself if it is in a container; earlier links may lead
    /// anywhere. `what` begins a message about a failure, such as `cannot purge`.
    package init(_ raw: RawText, for what: String) throws(CommandFailure) {
        let text = Places.text(raw)
        func failure(_ reason: String, _ advice: String) -> CommandFailure {
            CommandFailure(what, path: text, reason, advice: advice)
        }
        let (path, status): ([UInt8], FileStatus?)
        do throws(Errno) {
            path = try Self.resolvedButLast(raw)
            status = try Self.status(path)
        } catch { throw CommandFailure(what, path: text, error) }
        let isLink = status.map { $0.isLink } ?? false
        var found = try Self.find(path, isLink: isLink)
        if found == nil { found = try Self.findTarget(of: raw, isLink) }
        guard let found else {
            throw failure("it is not in a container", "Name a path in a mount, or in the container/ of a store.")
        }
        if found.inner.split(separator: Self.slash).first?.elementsEqual(ControlFile.directory.utf8) ?? false {
            throw failure("it is the control directory", "Name files of the app.")
        }
        if let status, try found.isElsewhere(status, path) {
            throw failure(
                "another file system is mounted over it", "Files of that file system are not part of the container."
            )
        }
        self = found
    }

    private init(_ target: Target, _ inner: some Sequence<UInt8>) {
        self.target = target
        self.inner = Array(inner)
    }
}

extension PathInContainer {
    /// Returns the path with everything but the last component resolved.
    private static func resolvedButLast(_ raw: RawText) throws(Errno) -> [UInt8] {
        let bytes = raw.dropLast().map { UInt8(bitPattern: $0) }
        let name = bytes.split(separator: slash, omittingEmptySubsequences: false).last ?? []
        // With a trailing slash, a link stands for its target, as for the kernel.
        if name.isEmpty || name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) {
            return try System.resolved(raw)
        }
        let above = bytes.dropLast(name.count)
        let folder = try System.resolved(
            (above.isEmpty ? [UInt8(ascii: ".")] : above).map(CChar.init(bitPattern:)) + [0])
        return (folder == [slash] ? [] : folder) + [slash] + name
    }

    /// Returns the status, or nil for an entry that may exist but cannot be examined.
    private static func status(_ path: [UInt8]) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try System.status(at: AT_FDCWD, path.map(CChar.init(bitPattern:)) + [0])
        } catch .accessDenied { return nil }
    }

    /// Follows a link from outside that leads into a container.
    private static func findTarget(of raw: RawText, _ isLink: Bool) throws(CommandFailure) -> PathInContainer? {
        guard isLink else { return nil }
        let target: [UInt8]
        do throws(Errno) { target = try System.resolved(raw) } catch { return nil }
        return try find(target, isLink: false)
    }

    /// Finds an absolute path whose last component stands for itself if it is a symbolic link. The entry need not exist.
    package static func find(_ path: [UInt8], isLink: Bool) throws(CommandFailure) -> PathInContainer? {
        // Mount points of containers are UTF-8.
        var folder = isLink ? parent(path) : path
        while String(path: folder) == nil { folder = parent(folder) }
        if let text = String(path: folder), let mount = try Target.mount(holding: text) {
            let inner = path.dropFirst(mount.utf8.count)
            return PathInContainer(.mount(mount), inner.first == slash ? inner.dropFirst() : inner)
        }
        return stored(path)
    }

    private static func parent(_ path: [UInt8]) -> [UInt8] {
        guard let end = path.lastIndex(of: slash), end > 0 else { return [slash] }
        return Array(path[..<end])
    }

    /// Finds a path in a store, through its mount if there is one.
    private static func stored(_ path: [UInt8]) -> PathInContainer? {
        if let place = StoredPlace(path) { return PathInContainer(Target(store: place.store), place.inner) }
        guard let store = String(path: path), Target.isStore(store) else { return nil }
        return PathInContainer(Target(store: store), [])
    }

    /// Whether a path below the mount point leads to a different entry than the one in the container.
    private func isElsewhere(_ status: FileStatus, _ path: [UInt8]) throws(CommandFailure) -> Bool {
        guard case .mount(let mount) = target, path.starts(with: Array(mount.utf8) + [Self.slash]) else { return false }
        do throws(Errno) {
            return try System.status(ofPath: mount).st_dev != status.st_dev
        } catch { return false }  // it is just being unmounted
    }
}
