/// A request that one write to `storage.reclaim` or `storage.plan` makes.
///
/// Paths and patterns are bytes, because a name may contain any byte except a slash and zero. So a zero byte follows each path
/// or pattern, and the first word of a request that has any.
public enum PurgeRequest: Hashable, Sendable {
    /// By the order of purging: everywhere, or only at and below a path.
    case byRule(ReclaimCommand, below: [UInt8]? = nil)
    /// Exactly these files, and all files below these folders.
    case paths([[UInt8]])
    /// All entries that match one of these fnmatch(3) patterns, and all files below matching folders.
    case globs([[UInt8]])
    /// The same, and open files too: their names go. Only for requests that name files or a place.
    indirect case evenOpen(PurgeRequest)

    /// The longest request in bytes. The kernel splits a write(2) of more than twice this size.
    public static let longest = 256 << 10

    /// The largest number of patterns. Each is compared with every path in the container, and no signal interrupts that.
    public static let mostGlobs = 100

    private static let evenOpen = Array("evenOpen ".utf8)

    /// Parses a request; nil if it is malformed. A final newline is ignored.
    public init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.evenOpen) else {
            self.init(plain: bytes)
            return
        }
        guard let request = PurgeRequest(plain: bytes.dropFirst(Self.evenOpen.count)), request.namesWhatGoes else {
            return nil
        }
        self = .evenOpen(request)
    }

    /// Whether the request names files or a place. The others ask for free space, and open files give none.
    private var namesWhatGoes: Bool {
        switch self {
        case .paths, .globs: true
        case .byRule(let command, _): command.goal.step != nil
        case .evenOpen: false
        }
    }

    private init?(plain bytes: some Collection<UInt8>) {
        var rest = Array(bytes)
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        var fields = rest.split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
        if fields.count > 1, fields.last == [] { fields.removeLast() }
        let (word, names) = (String(decoding: fields.removeFirst(), as: UTF8.self), fields)
        switch word {
        case "paths":
            guard !names.isEmpty, names.allSatisfy(Self.isPath) else { return nil }
            self = .paths(names)
        case "globs":
            guard !names.isEmpty, names.count <= Self.mostGlobs, !names.contains([]) else { return nil }
            self = .globs(names)
        default:
            guard names.count <= 1, names.allSatisfy(Self.isPath), let command = ReclaimCommand(text: word) else {
                return nil
            }
            self = .byRule(command, below: names.first)
        }
    }

    /// The request in the form that `init` reads.
    public var bytes: [UInt8] {
        switch self {
        case .byRule(let command, let path): Self.fields(command.text, path.map { [$0] } ?? [])
        case .paths(let paths): Self.fields("paths", paths)
        case .globs(let globs): Self.fields("globs", globs)
        case .evenOpen(let request): Self.evenOpen + request.bytes
        }
    }

    private static func fields(_ word: String, _ names: [[UInt8]]) -> [UInt8] {
        names.isEmpty ? Array(word.utf8) : Array(word.utf8) + [0] + names.flatMap { $0 + [0] }
    }

    /// Splits `paths` into requests of at most `longest` bytes.
    public static func requests(for paths: [[UInt8]]) -> [PurgeRequest] {
        var batches: [[[UInt8]]] = []
        var room = 0
        for path in paths {
            if path.count + 1 > room {
                batches.append([])
                room = longest - 16
            }
            batches[batches.count - 1].append(path)
            room -= path.count + 1
        }
        return batches.map { .paths($0) }
    }

    /// Returns whether a path is relative to the container, with only names between single slashes.
    private static func isPath(_ path: [UInt8]) -> Bool {
        path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { name in
            !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
        }
    }
}
