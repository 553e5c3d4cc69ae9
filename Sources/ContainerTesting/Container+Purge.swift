import Foundation

extension Container {
    /// What to purge: a number of bytes, or all files of a kind.
    public enum Purge: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case size(Size)
        /// `tmp`, `Library/Caches`, marked files elsewhere, or all of these. Like a size, `all` first purges `othersPurgeable`.
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

    /// Purges an amount such as `"10M"`, or files of a kind such as `.caches`, and returns what was purged: docs/CONTROL.md,
    /// storage.reclaim. If less can be purged than requested, purges as much as possible and throws `purgeIncomplete`.
    @discardableResult
    public func purge(_ what: Purge) throws -> [Purged] { try answer("storage.reclaim", what.command) }

    /// Returns what `purge` would purge now.
    public func plan(_ what: Purge) throws -> [Purged] { try answer("storage.plan", what.command) }

    /// Purges exactly these files, and all files below these folders. If some may not be purged, for example because they are
    /// open, purges the others and throws `purgeIncomplete`.
    @discardableResult
    public func purge(paths: [any ContainerPath]) throws -> [Purged] {
        try answer("storage.reclaim", try (["paths"] + paths.map { try name(of: $0) }).map { $0 + "\0" }.joined())
    }

    /// Returns the answer of `purgefs why` about a file, which may exist or be gone.
    public func why(_ place: some ContainerPath) throws -> String {
        let outcome = try run([binary, "why", try absolute(place)])
        let said = outcome.output.isEmpty ? outcome.errors : outcome.output
        return said.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes the page of `purgefs report` to a file. Throws `verbFailed`.
    public func report(to file: URL) throws {
        let outcome = try run([binary, "report", path, "--output", file.path])
        guard outcome.status == 0 else { throw ContainerError.verbFailed("purgefs report", outcome.errors) }
    }
}
