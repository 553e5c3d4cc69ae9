/// The numbers and victims that purgefs must report for a container, computed from docs/RULES.md in the simplest way: a file is
/// a set of 4 KiB blocks, and a directory is a dictionary of names. It does not depend on the code under test.
///
/// The ledger is told about calls that have succeeded. A call that cannot succeed, for example because a name is missing or a
/// directory is not empty, is a mistake of the test and traps. The ledger computes only the effects of simulated space: how
/// much `write` and `allocate` take, and the purges for them. Where the rules leave a choice (a hole made while another
/// descriptor reads the file may be charged), it does not charge. Paths are relative to the container, and "" is its root.
public struct ReferenceLedger: Sendable {
    public static let block: Int64 = 4096

    public enum Tier: String, CaseIterable, Sendable {
        case temporary, caches, persistent

        var durability: Int {
            switch self {
            case .temporary: 0
            case .caches: 1
            case .persistent: 2
            }
        }
    }

    /// A value of isPurgeable.
    public enum Mark: Int, Sendable {
        case notPurgeable, low, medium, high
    }

    /// Identifies a file independently of its names, as a descriptor does.
    public struct FileID: Hashable, Sendable {
        let number: Int
    }

    struct DirectoryID: Hashable, Sendable {
        let number: Int
        static let root = DirectoryID(number: 0)
    }

    enum Entry: Sendable {
        case directory(DirectoryID)
        case file(FileID)
        /// A symbolic link, FIFO or socket, which costs nothing.
        case other
    }

    struct Directory: Sendable {
        var entries: [String: Entry] = [:]
        var mark: Mark?
    }

    struct File: Sendable {
        var blocks: Set<Int64> = []
        var size: Int64 = 0
        var opens = 0
        var ownMark: Mark?
        /// The value of `uses` at the last use.
        var lastUse = 0
        var names: [String] = []
        /// The tier, derived from the names; an unlinked file keeps its last one.
        var tier = Tier.persistent
        var mark: Mark?

        var charged: Int64 { Int64(blocks.count) * ReferenceLedger.block }
        var isImportant: Bool { tier == .persistent && (mark ?? .notPurgeable) == .notPurgeable }
        /// True if purging the file would free its bytes now.
        var mayGo: Bool { names.count == 1 && opens == 0 && !isImportant && !blocks.isEmpty }
    }

    var directories: [DirectoryID: Directory] = [.root: Directory()]
    var files: [FileID: File] = [:]
    var uses = 0
    private var made = 0

    public internal(set) var total: Int64
    public internal(set) var others: Int64 = 0
    public internal(set) var othersPurgeable: Int64 = 0
    public internal(set) var thresholds = Thresholds.off
    public internal(set) var pressure = Pressure.normal

    /// Creates an empty container without thresholds.
    public init(total: Int64) { self.total = total / Self.block * Self.block }

    mutating func newNumber() -> Int {
        made += 1
        return made
    }

    mutating func change(_ id: FileID, _ body: (inout File) -> Void) {
        guard var file = files[id] else { preconditionFailure("this file is gone") }
        files[id] = nil  // lets `body` change the set of blocks in place
        body(&file)
        files[id] = file
    }

    func file(_ id: FileID) -> File {
        guard let file = files[id] else { preconditionFailure("this file is gone") }
        return file
    }

    mutating func noteUse(of id: FileID) {
        uses += 1
        let now = uses
        change(id) { $0.lastUse = now }
    }
}
