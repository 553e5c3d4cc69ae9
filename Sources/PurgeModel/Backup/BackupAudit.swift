/// Totals a container's backup, and finds the problems that a developer should look at (docs/BACKUP.md).
public struct BackupAudit: Sendable {
    /// A file, folder or link in the container.
    public struct Item: Sendable {
        /// The path relative to the container.
        public var path: String
        /// Whether the item is a regular file. Only regular files are counted.
        public var isFile: Bool
        /// An identity shared by all names of a hard-linked file. The file is counted once: under a name in the backup if it
        /// has one, and otherwise in its most durable place.
        public var link: UInt64?
        public var size: ByteCount
        public var placement: BackupPlacement
        public var created: Instant?
        public var lastUse: Instant?

        public init(
            path: String, isFile: Bool, link: UInt64? = nil, size: ByteCount, placement: BackupPlacement,
            created: Instant? = nil, lastUse: Instant? = nil
        ) {
            (self.path, self.isFile, self.link, self.size) = (path, isFile, link, size)
            (self.placement, self.created, self.lastUse) = (placement, created, lastUse)
        }
    }

    /// A number of files and their bytes.
    public struct Sum: Hashable, Codable, Sendable {
        public var bytes = ByteCount.zero
        public var files: Int64 = 0
        public init(bytes: ByteCount = .zero, files: Int64 = 0) { (self.bytes, self.files) = (bytes, files) }

        mutating func add(_ size: ByteCount) {
            bytes += size
            files += 1
        }
    }

    /// A larger backup is a finding.
    static let largeBackup = ByteCount(500_000_000)
    /// A larger Documents is a finding, as far as it is in the backup; and if larger than the second limit, another one.
    static let largeDocuments = ByteCount(100_000_000)
    static let hugeDocuments = ByteCount(1_000_000_000)
    /// A larger file in the backup is a finding.
    static let largeFile = ByteCount(10_000_000)
    /// A use this many nanoseconds after a file's creation, or later, shows that the app relies on the file.
    static let reuse: Int64 = 24 * 3600 * 1_000_000_000
    static let largestShown = 10

    private var inBackup = Sum()
    private var leftOut: [BackupExclusion: Sum] = [:]
    /// Keyed by the bytes of the path, because different paths can be equal as strings.
    private var folders: [[UInt8]: Sum] = [:]
    private var tiers: [Tier: (all: Sum, inBackup: Sum)] = [:]
    private var largest: [BackupAuditReport.File] = []
    private var findings: [BackupFinding] = []
    /// The sums of user content by the outermost excluded entry, keyed by the bytes of the entry's path.
    private var hidden: [[UInt8]: Sum] = [:]
    /// The latest item whose parent is in the backup: its path if a flag excludes it, otherwise nil.
    private var excluded: String?
    /// The best name so far of each hard-linked file.
    private var linked: [UInt64: (item: Item, excluded: String?)] = [:]

    public init() {}

    /// Adds an item. Items come in the order of a walk, each folder before its content.
    public mutating func add(_ item: Item) {
        if item.placement.isRedundantlyFlagged { find(.redundantExclusion, item) }
        if item.placement.isFirst { excluded = item.placement.exclusion == .excluded ? item.path : nil }
        guard item.isFile else { return }
        guard let link = item.link else { return count(item, in: excluded) }
        if let other = linked[link], !item.placement.counts(before: other.item.placement) { return }
        linked[link] = (item, excluded)
    }

    private mutating func count(_ item: Item, in excluded: String?) {
        tiers[item.placement.place.tier, default: (Sum(), Sum())].all.add(item.size)
        if let exclusion = item.placement.exclusion {
            leftOut[exclusion, default: Sum()].add(item.size)
            noteLeftOut(item, exclusion, in: excluded)
        } else {
            tiers[item.placement.place.tier, default: (Sum(), Sum())].inBackup.add(item.size)
            inBackup.add(item.size)
            folders[Array(Self.folder(of: item.path).utf8), default: Sum()].add(item.size)
            noteInBackup(item)
        }
    }

    private mutating func noteInBackup(_ item: Item) {
        if item.size > Self.largeFile { find(.largeFile, item) }
        if item.size == .zero, !FileKind.isOftenEmpty(item.path) { find(.emptyFile, item) }
        largest.append(.init(path: item.path, bytes: item.size))
        if largest.count > 100 * Self.largestShown { keepLargest() }
    }

    private mutating func noteLeftOut(_ item: Item, _ exclusion: BackupExclusion, in excluded: String?) {
        switch exclusion {
        case .temporary, .caches:
            guard let created = item.created, let used = item.lastUse,
                used.nanoseconds.subtractingReportingOverflow(created.nanoseconds).partialValue >= Self.reuse,
                used > created
            else { return }
            find(.reusedCache, item)
        case .excluded where UserContent.isLike(path: item.path):
            // When auditing a subtree, the excluded ancestor may lie outside it.
            hidden[Array((excluded ?? item.path).utf8), default: Sum()].add(item.size)
        case .excluded, .special: return
        }
    }

    private mutating func end() {
        for file in linked.values { count(file.item, in: file.excluded) }
        for (path, sum) in hidden {
            findings.append(
                BackupFinding(
                    rule: .userContentExcluded, path: String(decoding: path, as: UTF8.self), bytes: sum.bytes,
                    files: sum.files))
        }
        noteDocuments()
        keepLargest()
    }

    private mutating func noteDocuments() {
        let name = "Documents"
        guard let sum = folders[Array(name.utf8)] else { return }
        for (rule, limit) in [
            (BackupFinding.Rule.hugeDocuments, Self.hugeDocuments), (.largeDocuments, Self.largeDocuments),
        ]
        where sum.bytes > limit {
            findings.append(BackupFinding(rule: rule, path: name, bytes: sum.bytes, files: sum.files))
        }
    }

    private mutating func find(_ rule: BackupFinding.Rule, _ item: Item) {
        findings.append(BackupFinding(rule: rule, path: item.path, bytes: item.isFile ? item.size : nil))
    }

    private mutating func keepLargest() {
        largest = Array(
            largest.sorted { ($1.bytes, $0.path) < ($0.bytes, $1.path) }.prefix(Self.largestShown))
    }

    /// Returns the folder under which a path is counted: `Library/NAME` for an item in a folder of Library, `.` for an item at
    /// the top, and otherwise the first component.
    static func folder(of path: String) -> String {
        let names = path.split(separator: "/", omittingEmptySubsequences: true)
        let count = names.first == "Library" && names.count > 2 ? 2 : 1
        return names.count <= 1 ? "." : names.prefix(count).joined(separator: "/")
    }
}

extension BackupAudit {
    public func report() -> BackupAuditReport {
        var audit = self
        audit.end()
        if audit.inBackup.bytes > Self.largeBackup {
            audit.findings.append(
                BackupFinding(rule: .largeBackup, path: nil, bytes: audit.inBackup.bytes, files: audit.inBackup.files))
        }
        return BackupAuditReport(
            bytes: audit.inBackup.bytes, files: audit.inBackup.files,
            folders: audit.folders.map {
                .init(path: String(decoding: $0.key, as: UTF8.self), bytes: $0.value.bytes, files: $0.value.files)
            }
            .sorted { ($1.bytes, $0.path) < ($0.bytes, $1.path) },
            tiers: Tier.allCases.map { tier in
                let sums = audit.tiers[tier, default: (Sum(), Sum())]
                return .init(tier: tier, bytes: sums.all.bytes, files: sums.all.files, inBackup: sums.inBackup.bytes)
            },
            leftOut: BackupExclusion.allCases.compactMap { reason in
                audit.leftOut[reason].map { .init(reason: reason, bytes: $0.bytes, files: $0.files) }
            },
            largest: audit.largest, findings: audit.findings.sorted())
    }
}
