import PurgeModel

/// A file, folder or link of a container, with everything that the rules examine.
struct DiagnosedEntry: Sendable {
    enum Kind: String, Codable, Sendable {
        case file, folder, symbolicLink, special
    }

    /// The purged target of a link.
    struct PurgedTarget: Hashable, Sendable {
        /// The path relative to the container.
        var path: String
        var time: Instant
    }

    /// A path into an earlier container, which a symbolic link or the texts of a file hold.
    struct StalePath: Hashable, Sendable {
        var path: ContainerPath
        /// The number of such texts in the file; nil for a link.
        var texts: Int?
        /// Where the first text is, if known.
        var place: String?
        /// The event that gave the container another UUID; nil if it is not known.
        var end: Event?
        /// Whether the present container has an entry at the path.
        var isHere: Bool
    }

    /// The path relative to the container; empty for the container itself.
    var path: String
    var kind: Kind
    var standing: EntryStanding
    var inode: UInt64 = 0
    /// The number of hard links.
    var names = 1
    var size = ByteCount.zero
    /// The modification time by the device's clock.
    var modified = Instant.distantPast
    /// True if the owner lacks a permission that reading needs.
    var isClosed = false
    var nameProblem: NameProblem?
    var history = PathHistory()
    /// The target of a link that dangles because of a purge.
    var purgedTarget: PurgedTarget?
    /// For files, only `DiagnosisReader.examined` sets it.
    var stalePath: StalePath?
    /// The creation time by the device's clock; nil if it is unknown or no rule needs it.
    var arrived: Instant?
    /// The time of the last status change, by the device's clock, if a write to the file was refused and its modification time
    /// is earlier than its creation time; otherwise nil. Programs that copy files set such a modification time, which does not
    /// show when the data was written.
    var settled: Instant?
    /// The creation time as apps see it; nil if it is unknown or no rule needs it.
    var created: Instant?
    var lastUse: Instant?

    init(path: String, kind: Kind, standing: EntryStanding) {
        (self.path, self.kind, self.standing) = (path, kind, standing)
    }

    var isFile: Bool { kind == .file }
    var hasSeveralNames: Bool { isFile && names > 1 }

    /// The reason why the file may be purged without the app asking; nil if no purge may take it, or for another kind of entry.
    var reasonToGo: PurgeReason? { isFile ? standing.reasonToGo(hasSeveralNames: hasSeveralNames) : nil }

    /// True if nothing was written to the file since its last refused write. Refusals of one file make at most one event a
    /// second, so an empty file may have been refused up to a second after the event.
    var lacksRefusedData: Bool {
        guard isFile, let refused = history.lastRefusal else { return false }
        // A program whose write was refused may still set the times of the incomplete file.
        let last = size == .zero || settled != nil ? refused.advanced(by: TimeSpan(seconds: 1)) : refused
        // Events have a precision of milliseconds.
        return max(modified, settled ?? .distantPast) < last.advanced(byMilliseconds: 1)
    }

    /// True if the last purge has emptied the file and it is still empty, unless a refused write is the reason.
    var isTombstone: Bool { isFile && size == .zero && history.wasEmptied && !lacksRefusedData }

    /// The entry in the form that an audit of the backup needs.
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
