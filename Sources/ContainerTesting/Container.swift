import Foundation
import Synchronization

/// A mounted container of purgefs, on its own simulated device. docs/HARNESSES.md has examples.
///
/// Tests get a container from the trait `.container(...)` or from `withContainer`, and both end it. All calls may be made from
/// any thread, return when their work is done, and throw `ContainerError`; `async` calls also throw `CancellationError`.
///
/// The tests of a process share its environment and run in parallel, so their HOME does not lead into a container. Pass `url`,
/// or a place in it, to the code under test. A program started with `run` has its HOME in the container.
public final class Container: Sendable {
    /// The container of the trait or the `withContainer` call around the current task; nil if there is none. This is a
    /// task-local value, so detached tasks and new threads do not have it.
    @TaskLocal public static var current: Container?

    /// The location of the container: the app's home directory.
    public let url: URL
    /// The path of `url`.
    public let path: String
    /// The binary of purgefs: the value of the variable PURGEFS, or else the one in PATH.
    public let binary: String
    let log: EventLog
    let running: ContainerRun
    /// Processes that `run` left running.
    let left = Mutex(LeftProcesses())

    /// Mounts a new container. Throws `noProgram`, `noContainer` with the message of purgefs, or `refused` for thresholds.
    ///
    /// The container ends when `end` is called, its last reference goes away, or this process ends, even if killed.
    public init(_ settings: Settings = Settings()) throws {
        let named = ProcessInfo.processInfo.environment["PURGEFS"] ?? ""
        binary = named.isEmpty ? "purgefs" : named
        running = try ContainerRun(binary: binary, options: settings.words)
        path = running.path
        url = URL(fileURLWithPath: path, isDirectory: true)
        log = try EventLog(
            path: path + "/.purgefs/events", journal: EventJournal(container: path, binary: binary).lines)
        do {
            if let thresholds = settings.thresholds { try set(thresholds: thresholds) }
        } catch {
            try? end()
            throw error
        }
    }

    /// Unmounts the container, and removes its store unless the option `--store` named it. A second call does nothing.
    ///
    /// Throws `stillInUse` with the processes that have files of the container open; the container is unmounted nevertheless.
    /// Throws `lost` or `endedBadly` if the container was already gone. Processes that `run` left running are killed. A daemon
    /// that does not answer is killed too, and `end` then throws `endedBadly`.
    public func end() throws {
        let isRead: Void? = running.asking { [log] in
            _ = try? log.events()
            log.close()
        }
        defer { left.withLock { $0.kill(in: path) } }
        try running.end(isAnswering: isRead != nil)
    }

    public var hasEnded: Bool { running.hasEnded }

    // MARK: Places

    /// `Documents`
    public var documents: URL { place("Documents") }
    /// `Library/Caches`
    public var caches: URL { place("Library/Caches") }
    /// `Library/Application Support`
    public var applicationSupport: URL { place("Library/Application Support") }
    /// `Library/Preferences`
    public var preferences: URL { place("Library/Preferences") }
    /// `tmp`
    public var tmp: URL { place("tmp") }

    private func place(_ name: String) -> URL { url.appendingPathComponent(name, isDirectory: true) }

    /// The variables of this process, with HOME, TMPDIR and others set to places in the container, as `purgefs run` sets them.
    public var environment: [String: String] {
        ProcessInfo.processInfo.environment.merging([
            "HOME": path, "CFFIXED_USER_HOME": path, "PURGEFS_MOUNT": path, "TMPDIR": tmp.path,
            "XDG_CACHE_HOME": caches.path, "XDG_DATA_HOME": applicationSupport.path,
            "XDG_CONFIG_HOME": preferences.path,
        ]) { $1 }
    }
}

/// A path in a container: a URL, or a string that is relative to the container unless it begins with a slash.
public protocol ContainerPath {
    var containerPath: String { get }
}

extension String: ContainerPath {
    public var containerPath: String { self }
}

extension Substring: ContainerPath {
    public var containerPath: String { String(self) }
}

extension URL: ContainerPath {
    public var containerPath: String { path }
}

/// Converts paths to the form that a container uses.
struct ContainerPlaces {
    let path: String

    /// Returns the path relative to the container, in the form that events and control files use. Throws `outside`.
    func name(of place: some ContainerPath) throws -> String {
        let text = place.containerPath
        var components: [Substring] = []
        for component in try relative(text).split(separator: "/") where component != "." {
            if component != ".." {
                components.append(component)
            } else if components.popLast() == nil {
                throw ContainerError.outside(text)
            }
        }
        return components.joined(separator: "/")
    }

    /// Returns the absolute path.
    func absolute(_ place: some ContainerPath) throws -> String {
        let name = try name(of: place)
        return name.isEmpty ? path : path + "/" + name
    }

    private func relative(_ text: String) throws -> Substring {
        guard text.hasPrefix("/") else { return text[...] }
        for root in [path, URL(fileURLWithPath: path).resolvingSymlinksInPath().path]
        where text == root || text.hasPrefix(root + "/") { return text.dropFirst(root.count) }
        throw ContainerError.outside(text)
    }
}

extension Container {
    func name(of place: some ContainerPath) throws -> String { try ContainerPlaces(path: path).name(of: place) }
    func absolute(_ place: some ContainerPath) throws -> String { try ContainerPlaces(path: path).absolute(place) }
}
