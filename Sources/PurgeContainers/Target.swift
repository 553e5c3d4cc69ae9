import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem
import PurgeVolume

/// The container that a verb works on.
package enum Target: Hashable, Sendable {
    /// A mount point.
    case mount(String)
    /// A store that is not mounted.
    case store(String)

    /// The mount point or the store.
    package var place: String {
        switch self {
        case .mount(let path), .store(let path): path
        }
    }

    /// Opens the control files, which the caller closes. With `forReading`, a store is not changed.
    package func open(forReading: Bool = false) throws(CommandFailure) -> any ControlEndpoint {
        switch self {
        case .mount(let path): MountedControl(place: path)
        case .store(let path): try OfflineControl(store: path, forReading: forReading)
        }
    }

    /// Opens the target, runs `body`, and always closes the target. If `forReading` is a console, a store is not changed, and
    /// parts that could not be read are reported on the console.
    package static func with<Result>(
        _ text: String?, forReading: Console? = nil, _ body: (any ControlEndpoint) throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result {
        try Target(text).with(forReading: forReading != nil, warnings: forReading, body)
    }

    /// Opens this target, runs `body`, and always closes the target. `warnings` gets warnings about parts that could not be
    /// read.
    package func with<Result>(
        forReading: Bool, warnings: Console?, _ body: (any ControlEndpoint) throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result {
        let control = try open(forReading: forReading)
        for warning in control.warnings { warnings?.warn("warning: \(warning)") }
        let result: Result
        do throws(CommandFailure) {
            result = try body(control)
        } catch {
            // The first failure is the one to report.
            do throws(CommandFailure) { try control.close() } catch {}
            throw error
        }
        try control.close()
        return result
    }
}

extension Target {
    /// Finds the TARGET of a verb (docs/CLI.md): `text` if given, else $PURGEFS_MOUNT, else the mount of the working directory.
    package init(_ text: String?) throws(CommandFailure) {
        if let text {
            self = try .at(text)
        } else if let mount = getenv("PURGEFS_MOUNT"), mount.pointee != 0 {
            let origin = " (from $PURGEFS_MOUNT)"
            guard let path = String(validatingCString: mount) else {
                throw CommandFailure("no container", path: String(cString: mount) + origin, Errno.illegalByteSequence)
            }
            self = try .at(path, from: origin)
        } else {
            guard let mount = try Self.mount(holding: try Self.resolved(".", from: "")) else {
                throw .usage(
                    "which container? The working directory is not in one, and PURGEFS_MOUNT is not set: name a TARGET "
                        + "(`purgefs run` keeps its container only with --store)")
            }
            self = .mount(mount)
        }
    }

    /// Creates the target for a store: its mount if it is mounted.
    package init(store: String) {
        self = Self.mount(ofStore: store).map { .mount($0) } ?? .store(store)
    }

    /// Returns the container that an operand names and, if the operand names only a part of it, the relative path of that part;
    /// otherwise an empty path.
    package static func part(named operand: RawText?) throws(CommandFailure) -> (target: Target, inner: String) {
        guard let operand else { return (try Target(nil), "") }
        guard let text = String(path: operand.dropLast().map { UInt8(bitPattern: $0) }) else {
            throw CommandFailure("no container", path: Places.text(operand), Errno.illegalByteSequence)
        }
        let path = Places.resolved(text)
        if let path, try mount(holding: path) == nil, let stored = StoredPlace(path.utf8) {
            return (Target(store: stored.store), stored.innerText)
        }
        let target = try Target(text)
        guard case .mount(let mount) = target, let path, path.isPath(below: mount) else { return (target, "") }
        let inner = String(Substring(path.utf8.dropFirst(mount.utf8.count + 1)))
        guard inner.pathNames.first != ControlFile.directory else {
            throw CommandFailure(
                "not part of the container", path: text, "it is the control directory",
                advice: "Name \(mount) "
                    + "instead.")
        }
        return (target, inner)
    }

    /// Throws if an operand names only a part of a container, for a command that removes files from the whole of it.
    package static func requireWhole(_ text: String?, _ what: String) throws(CommandFailure) {
        guard let text, let path = Places.resolved(text), let mount = try mount(holding: path), path != mount else {
            return
        }
        throw CommandFailure(
            what, path: text, "it is only a part of the container",
            advice: "Name the whole container: \(ShellWord.of(mount))")
    }

    private static func at(_ text: String, from origin: String = "") throws(CommandFailure) -> Target {
        let path = try resolved(text, from: origin)
        if let mount = try mount(holding: path) { return .mount(mount) }
        // A directory that looks like a store inside another store's container is data of that container's app.
        let outer = StoredPlace(path.utf8)
        guard isStore(path), outer == nil else {
            if outer == nil, let owner = ownerOfClosed(path) {
                throw CommandFailure(
                    "no container", path: text + origin, Errno.accessDenied,
                    advice: "Only its owner may use a store: run this as \(AccessAdvice.name(owner)).")
            }
            let hint = outer.map { "It is inside the store \($0.store): name that." }
            throw CommandFailure(
                "no container", path: text + origin, "it is neither a store nor in a purgefs mount",
                advice: hint
                    ?? "Name a mount point, a path inside one, or a store directory. Mounts now: \(Self.list()).")
        }
        return mount(ofStore: path).map { .mount($0) } ?? .store(text)
    }

    /// Returns the failure for a mount whose store is no longer at its path; nil if the store is there.
    package static func loss(of store: String, at mount: String, _ what: String) -> CommandFailure? {
        let isReplaced = MountEntry.container(at: mount).map { MountedStore($0).isReplaced } ?? false
        if isStore(store) && !isReplaced { return nil }
        return CommandFailure(
            what, path: store,
            isReplaced
                ? "another store has replaced the one mounted at \(mount)"
                : "the store was removed, moved or hidden while mounted at \(mount)",
            advice: "Put it back, or unmount it: purgefs unmount \(ShellWord.of(mount))")
    }

    /// Whether a directory has the entries of a store. Only opening the store shows whether it is valid.
    package static func isStore(_ path: String) -> Bool {
        exists(path + "/container") && exists(path + "/device.json")
    }

    /// Returns the owner of a directory that this user may not enter; nil if this user may enter it, or it cannot be examined.
    private static func ownerOfClosed(_ path: String) -> uid_t? {
        do throws(Errno) { _ = try System.status(ofPath: path + "/device.json") } catch .accessDenied {
            do throws(Errno) { return try System.status(ofPath: path).st_uid } catch { return nil }
        } catch {}
        return nil
    }

    /// Returns the mount point of a store; nil if the store is not mounted, or if it has replaced the mounted store.
    package static func mount(ofStore path: String) -> String? {
        guard let store = identity(path) else { return nil }
        let entry = MountEntry.containers().last {
            identity($0.source) == store && !MountedStore($0).isReplaced
        }
        return entry?.mountpoint
    }

    /// Returns the mount point of the container that holds `path`: the nearest directory, from `path` upwards, with
    /// `.purgefs/status.json`. Throws if the mount's daemon has ended, or if this user may not enter the mount.
    package static func mount(holding path: String) throws(CommandFailure) -> String? {
        var directory = path
        while true {
            do throws(Errno) {
                let control = MountedControl(place: directory == "/" ? "" : directory)
                _ = try System.status(ofPath: control.path(.status))
                return directory
            } catch let error where error == .socketNotConnected {
                throw CommandFailure("no container", path: directory, error)
            } catch let error where error == .accessDenied {
                if let mount = MountEntry.container(at: directory) { throw noWay(into: mount, error) }
                guard directory != "/" else { return nil }
                directory = directory.parentPath
            } catch {
                guard directory != "/" else { return nil }
                directory = directory.parentPath
            }
        }
    }

    private static func noWay(into mount: MountEntry, _ error: Errno) -> CommandFailure {
        CommandFailure(
            "cannot enter the container", path: mount.mountpoint, error,
            advice: mount.owner == geteuid()
                ? ""
                : "Only the user who mounted it may use its control files: run this as "
                    + AccessAdvice.name(mount.owner ?? 0) + ".")
    }

    private static func resolved(_ text: String, from origin: String) throws(CommandFailure) -> String {
        do throws(Errno) {
            return try System.resolved(text)
        } catch { throw CommandFailure("no container", path: text + origin, error) }
    }

    private static func list() -> String {
        let mounts = MountEntry.containers().map(\.mountpoint)
        return mounts.isEmpty ? "none" : mounts.joined(separator: ", ")
    }

    private static func exists(_ path: String) -> Bool {
        do throws(Errno) {
            _ = try System.status(ofPath: path)
            return true
        } catch { return false }
    }

    private static func identity(_ path: String) -> [UInt]? {
        do throws(Errno) {
            let status = try System.status(ofPath: path)
            return [UInt(status.st_dev), UInt(status.st_ino)]
        } catch { return nil }
    }
}
