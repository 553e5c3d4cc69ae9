import PurgeModel

/// A file, folder or link of a container, with all that a diagnosis asks about it.
struct DiagnosedEntry: Sendable {
    enum Kind: String, Codable, Sendable {
        case file, folder, symbolicLink, special
    }

    /// What a link leads to, and when that was purged.
    struct PurgedTarget: Hashable, Sendable {
        /// Relative to the container.
        var path: String
        var time: Instant
    }

    /// Relative to the container; empty for the container itself.
    var path: String
    var kind: Kind
    var standing: EntryStanding
    var inode: UInt64 = 0
    /// How many names it has.
    var names = 1
    var size = ByteCount.zero
    /// By the device's clock.
    var modified = Instant.distantPast
    /// Its owner lacks a permission that reading it takes.
    var isClosed = false
    var nameProblem: NameProblem?
    var history = PathHistory()
    /// Of a link that leads nowhere because of a purge.
    var purgedTarget: PurgedTarget?
    /// By the device's clock; nil if it is not known, or not asked for.
    var arrived: Instant?
    /// When its status was last changed, by the device's clock, if its time of modification was set to one before it arrived,
    /// as programs do that copy a file: then that says nothing about when it was written.
    var settled: Instant?
    /// As the app sees them; nil if they are not known, or not asked for.
    var created: Instant?
    var lastUse: Instant?

    init(path: String, kind: Kind, standing: EntryStanding) {
        (self.path, self.kind, self.standing) = (path, kind, standing)
    }

    var isFile: Bool { kind == .file }
    var hasSeveralNames: Bool { isFile && names > 1 }

    /// Why it may go without the app asking for it; nil for what is no file.
    var reasonToGo: PurgeReason? { isFile ? standing.reasonToGo(hasSeveralNames: hasSeveralNames) : nil }

    /// Nothing was written to it since the last write that was refused. Of one file there is at most one event of a
    /// refusal in a second, so a file that is still empty may have been refused that much later.
    var lacksRefusedData: Bool {
        guard isFile, let refused = history.lastRefusal else { return false }
        // A program whose write was refused may set the times of what it leaves all the same.
        let last = size == .zero || settled != nil ? refused.advanced(by: TimeSpan(seconds: 1)) : refused
        // Events have milliseconds.
        return max(modified, settled ?? .distantPast) < last.advanced(byMilliseconds: 1)
    }

    /// A purge has emptied it, and nothing was written to it since.
    var isTombstone: Bool { isFile && size == .zero && history.wasEmptied && !lacksRefusedData }

    /// For an audit of the backup.
    var item: BackupAudit.Item {
        BackupAudit.Item(
            path: path.isEmpty ? "." : path, isFile: isFile, link: hasSeveralNames ? inode : nil, size: size,
            placement: standing.placement, created: created, lastUse: lastUse)
    }
}

extension Instant {
    fileprivate func advanced(byMilliseconds count: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count * 1_000_000)
        return Instant(nanoseconds: overflow ? .max : sum)
    }
}
