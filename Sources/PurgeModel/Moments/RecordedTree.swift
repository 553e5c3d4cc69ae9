/// The names of a container, as far as recorded calls tell them.
///
/// A file that a call is about and that no earlier call has made was there from the beginning: it gets its number when it is
/// named first.
struct RecordedTree {
    typealias File = Int
    struct Entry: Hashable {
        let folder: File
        /// Bytes, because names that are equal as strings may differ (Unicode equivalence).
        private let bytes: [UInt8]

        init(folder: File, name: String) { (self.folder, bytes) = (folder, Array(name.utf8)) }

        var name: String { String(decoding: bytes, as: UTF8.self) }
        var isRoot: Bool { bytes.isEmpty }
    }

    static let root: File = 0

    private var entries: [Entry: File] = [:]
    /// The names of each file, the newest first.
    private var names: [File: [Entry]] = [:]
    private var nodes: [UInt64: File] = [:]
    private var count = 1
    /// The first names of the files that were there from the beginning.
    private(set) var origins: [(file: File, entry: Entry)] = []

    init() {}

    /// The tree at the beginning, with the numbers of another tree.
    init(beginningOf tree: RecordedTree) {
        for (file, entry) in tree.origins { add(file, at: entry) }
    }

    /// The file with this name. Its number is new if it was there from the beginning and is named first.
    mutating func known(at entry: Entry) -> File {
        if let file = entry.isRoot ? Self.root : entries[entry] { return file }
        let file = newFile()
        add(file, at: entry)
        origins.append((file, entry))
        return file
    }

    subscript(entry: Entry) -> File? { entries[entry] }

    mutating func newFile(node: UInt64? = nil) -> File {
        defer { count += 1 }
        if let node { nodes[node] = count }
        return count
    }

    /// The place that a path names. The folders on the way are there.
    mutating func entry(_ path: String) -> Entry {
        // Not by characters: a combining mark at the beginning of a name would make one of the slash.
        var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        let name = parts.popLast() ?? ""
        let folder = parts.reduce(Self.root) { known(at: Entry(folder: $0, name: $1)) }
        return Entry(folder: folder, name: name)
    }

    /// The file that a call is about. A name may change while the call is served, so the node counts first. Nodes are used again
    /// for other files, so the path counts if the node's file has no name any more, unless the call is one on a descriptor.
    mutating func file(_ node: UInt64?, _ path: String, byDescriptor: Bool) -> File {
        if let node, let file = nodes[node], path.isEmpty || byDescriptor || names[file]?.isEmpty == false {
            return file
        }
        // The file has lost its name before any call has told it.
        if let node, path.isEmpty, node != RecordedCall.rootNode { return newFile(node: node) }
        let file = known(at: entry(path))
        if let node { nodes[node] = file }
        return file
    }

    mutating func add(_ file: File, at entry: Entry) {
        remove(entry)
        entries[entry] = file
        names[file, default: []].insert(entry, at: 0)
    }

    mutating func remove(_ entry: Entry) {
        guard let file = entries.removeValue(forKey: entry) else { return }
        names[file]?.removeAll { $0 == entry }
    }

    mutating func rename(_ from: Entry, to: Entry, exchanging: Bool) {
        let (file, other) = (known(at: from), entries[to])
        remove(from)
        add(file, at: to)
        if exchanging, let other { add(other, at: from) }
    }

    /// The folder of an entry, and all folders above it.
    func foldersAbove(_ entry: Entry) -> Set<File> {
        var folders: Set<File> = []
        var folder: File? = entry.folder
        while let next = folder, folders.insert(next).inserted { folder = names[next]?.first?.folder }
        return folders
    }

    /// A path of the file; nil if it has no name.
    func path(of file: File) -> String? {
        var parts: [String] = []
        var file = file
        while file != Self.root {
            // Even a record that cannot be true ends.
            guard parts.count <= names.count, let entry = names[file]?.first else { return nil }
            parts.append(entry.name)
            file = entry.folder
        }
        return parts.reversed().joined(separator: "/")
    }

    func path(of entry: Entry) -> String? {
        path(of: entry.folder).map { $0.isEmpty ? entry.name : "\($0)/\(entry.name)" }
    }
}
