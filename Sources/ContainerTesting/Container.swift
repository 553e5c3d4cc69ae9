import Foundation
import Synchronization

/// A mounted container of purgefs, on a simulated device of its own. docs/HARNESSES.md has examples.
///
/// Tests get one from the trait `.container(...)` or from `withContainer`; both end it. All calls return when what they
/// ask for is done, and may be made from any thread. They throw `ContainerError`.
///
/// The tests of a process share its environment, and run in parallel. So HOME does not lead into a container: the code
/// under test is given `url`, or one of the places in it. A program that is started with `run` has a HOME in it.
public final class Container: Sendable {
    /// The container of the test that is running, if it has one.
    /// Threads share no variable here: each task has a value of its own.
    @TaskLocal public static var current: Container?

    /// Where the container is: the home directory of the app.
    public let url: URL
    /// The same as a path.
    public let path: String
    /// The binary of purgefs: what the variable PURGEFS names, or else the one in PATH.
    public let binary: String
    let log: EventLog
    let running: ContainerRun
    /// What `run` has left running.
    let left = Mutex(LeftProcesses())

    /// Mounts a new one. Throws `noProgram`, `noContainer` with what purgefs says, or `refused` for thresholds.
    ///
    /// `end` ends it, or the last reference to it, or the end of this process, however that comes.
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

    /// Unmounts it and removes its store, unless that is one of its own (option `--store`). May be called twice.
    ///
    /// Throws `stillInUse`, with the processes that have files of it open; it is unmounted nevertheless. Throws `lost` or
    /// `endedBadly` if it was gone before. What `run` has left running is killed, and so is a daemon that does not answer:
    /// `endedBadly` says so.
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

    /// The variables that point a program into the container, added to those of this process, as `purgefs run` sets
    /// them.
    public var environment: [String: String] {
        ProcessInfo.processInfo.environment.merging([
            "HOME": path, "CFFIXED_USER_HOME": path, "PURGEFS_MOUNT": path, "TMPDIR": tmp.path,
            "XDG_CACHE_HOME": caches.path, "XDG_DATA_HOME": applicationSupport.path,
            "XDG_CONFIG_HOME": preferences.path,
        ]) { $1 }
    }
}

/// A path in a container: a URL, or a text, which is relative to the container unless it begins with a slash.
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

/// Paths as a container sees them.
struct ContainerPlaces {
    let path: String

    /// Relative to the container, as events and control files name it. Throws `outside`.
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

    /// The same as an absolute path.
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
