import Foundation

extension Container {
    /// What to purge: a size, or everything of a kind.
    public enum Purge: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case size(Size)
        /// `tmp`, `Library/Caches`, marked files elsewhere, or all of these.
        case tmp, caches, purgeable, all

        public init(integerLiteral bytes: Int) { self = .size(Size(bytes)) }
        public init(stringLiteral text: String) { self = .size(Size(text: text)) }

        var command: String {
            switch self {
            case .size(let size): size.description
            case .tmp: "tmp"
            case .caches: "caches"
            case .purgeable: "purgeable"
            case .all: "all"
            }
        }
    }

    /// Purges `"10M"`, `.tmp`, `.caches`, `.purgeable` or `.all`, and returns what was purged. Throws `purgeIncomplete`
    /// if less came back than a size asked for; what could be purged has been. docs/CONTROL.md, storage.reclaim.
    @discardableResult
    public func purge(_ what: Purge) throws -> [Purged] { try answer("storage.reclaim", what.command) }

    /// What `purge` would purge now.
    public func plan(_ what: Purge) throws -> [Purged] { try answer("storage.plan", what.command) }

    /// Purges exactly these files, and all files below these folders. Throws `purgeIncomplete` with those that may not
    /// be purged, or are open; the others have been purged.
    @discardableResult
    public func purge(paths: [any ContainerPath]) throws -> [Purged] {
        try answer("storage.reclaim", try (["paths"] + paths.map { try name(of: $0) }).map { $0 + "\0" }.joined())
    }

    // MARK: What has happened

    /// The events since the container was made, oldest first; those of a type or a path only. docs/CONTROL.md, events.
    public func events(_ type: EventType? = nil) throws -> [Event] {
        try log.events().filter { type == nil || $0.type == type }
    }

    public func events(_ type: EventType? = nil, at place: some ContainerPath) throws -> [Event] {
        let name = try name(of: place)
        return try events(type).filter { $0.path == name }
    }

    /// Waits until the file was purged, which may be done in the background, and returns the event. Throws `notPurged`,
    /// with what `purgefs why` says.
    @discardableResult
    public func expectPurge(of place: some ContainerPath, within limit: Duration = .seconds(10)) throws -> Event {
        let deadline = ContinuousClock.now + limit
        while true {
            if let event = try events(.purge, at: place).last { return event }
            let left = (deadline - .now) / .milliseconds(1)
            guard left > 0, !hasEnded else { throw ContainerError.notPurged(try name(of: place), try why(place)) }
            log.wait(Int32(min(left.rounded(.up), 100)))
        }
    }

    /// What `purgefs why` says about a file, whether it is there or gone.
    public func why(_ place: some ContainerPath) throws -> String {
        let outcome = try run([binary, "why", try absolute(place)])
        let said = outcome.output.isEmpty ? outcome.errors : outcome.output
        return said.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes the page of `purgefs report`. Throws `verbFailed`.
    public func report(to file: URL) throws {
        let outcome = try run([binary, "report", path, "--output", file.path])
        guard outcome.status == 0 else { throw ContainerError.verbFailed("purgefs report", outcome.errors) }
    }

    /// How a program has ended.
    public struct Outcome: Hashable, Sendable {
        /// 128 + N if signal N ended it.
        public var status: Int32
        public var output, errors: String
    }

    /// Runs a program, looked up in PATH, whose HOME and TMPDIR are in the container, and waits for its end. Its input
    /// is empty. Throws `noProgram`.
    public func run(_ words: [String], environment: [String: String] = [:]) throws -> Outcome {
        guard !hasEnded else { throw ContainerError.ended(path) }
        let input = try Descriptor.open("/dev/null", O_RDONLY)
        let output = try Descriptor.anonymousFile()
        let errors = try Descriptor.anonymousFile()
        let child = try Child(
            words, environment: self.environment.merging(environment) { $1 }, files: [input, output, errors])
        var status: Int32?
        while status == nil { status = child.wait(.seconds(60)) }
        return Outcome(status: status ?? 0, output: output.wholeText(), errors: errors.wholeText())
    }
}

extension Descriptor {
    fileprivate func wholeText() -> String { String(decoding: (try? content()) ?? Data(), as: UTF8.self) }
}
