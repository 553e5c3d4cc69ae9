import Foundation

extension Container {
    /// What to purge: a number of bytes, or all files of a kind.
    public enum Purge: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case size(Size)
        /// `tmp`, `Library/Caches`, marked files elsewhere, or all of these. Like a size, `all` first purges `othersPurgeable`.
        case tmp, caches, purgeable, all

        public init(integerLiteral bytes: Int) { self = .size(Size(bytes)) }
        public init(stringLiteral text: String) { self = .size(Size(text: text)) }

        /// The command for `storage.reclaim`, which names a kind as its case is named.
        var command: String { if case .size(let size) = self { size.description } else { "\(self)" } }
    }

    /// Purges an amount such as `"10M"`, or files of a kind such as `.caches`, and returns what was purged: docs/CONTROL.md,
    /// storage.reclaim. If less can be purged than requested, purges as much as possible and throws `purgeIncomplete`.
    /// `evenOpen`, not for a size or `all`, takes open files too: their names, and their bytes once they are closed.
    @discardableResult
    public func purge(_ what: Purge, evenOpen: Bool = false) throws -> [Purged] {
        try answer("storage.reclaim", (evenOpen ? "evenOpen " : "") + what.command)
    }

    /// Returns what `purge` would purge now.
    public func plan(_ what: Purge) throws -> [Purged] { try answer("storage.plan", what.command) }

    /// Purges exactly these files, and all files below these folders. If some may not be purged, for example because they are
    /// open, purges the others and throws `purgeIncomplete`. With `evenOpen`, open files go too.
    @discardableResult
    public func purge(paths: [any ContainerPath], evenOpen: Bool = false) throws -> [Purged] {
        let names = try paths.map { "\0" + (try name(of: $0)) }.joined()
        return try answer("storage.reclaim", (evenOpen ? "evenOpen paths" : "paths") + names)
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
