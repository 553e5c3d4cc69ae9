import PurgeModel
import Testing

@testable import PurgeTree

extension Node {
    /// Creates a node in a directory, without a tree.
    convenience init(inode: UInt64, kind: NodeKind, parent: Node?, name: Name) {
        self.init(inode: inode, kind: kind, name: name)
        self.parent = parent
    }
}

extension Name {
    init(_ text: some StringProtocol) { self.init(utf8: text.utf8) }
}

/// A tree addressed by paths, which have no leading slash; "" is the root.
struct TreeFixture: ~Copyable {
    var tree: Tree
    let root: Node
    private var made: UInt64 = 1

    /// Creates a tree with `tmp`, `Documents`, `Library` and `Library/Caches`.
    init() {
        tree = Tree(device: Device(containerID: "00000000-0000-0000-0000-000000000000"))
        root = Node(inode: 1, kind: .directory, name: Name(""))
        // Changes to directories complete at once.
        tree.placement.step = .max
        do { try tree.addContainer(root: root) } catch { preconditionFailure("\(error)") }
        for path in ["tmp", "Documents", "Library", "Library/Caches"] { makeDirectory(path) }
    }

    func find(_ path: String) -> Node? {
        path.split(separator: "/").reduce(root) { node, name in node?.entry(named: Name(name)) }
    }

    func dentry(_ path: String) -> Dentry {
        let slash = path.lastIndex(of: "/")
        let above = slash.map { String(path[..<$0]) } ?? ""
        guard let directory = find(above) else { preconditionFailure("no \(above)") }
        return Dentry(directory: directory, name: Name(slash.map { path[path.index(after: $0)...] } ?? path[...]))
    }

    func node(_ path: String) -> Node {
        guard let node = find(path) else { preconditionFailure("no \(path)") }
        return node
    }

    @discardableResult
    mutating func makeDirectory(_ path: String) -> Node { insert(path, .directory, EntryFacts()) }

    /// Creates a closed file with this many blocks.
    @discardableResult
    mutating func make(_ path: String, blocks: Int64 = 1, lastUse: Int64 = 0, creation: Int64 = 0) -> Node {
        var facts = EntryFacts()
        facts.blocks = blocks
        facts.lastUse = Instant(nanoseconds: lastUse)
        // Uses are in nanoseconds, ages in seconds.
        facts.creation = Instant(seconds: creation, nanoseconds: 0)
        return insert(path, .regular, facts)
    }

    private mutating func insert(_ path: String, _ kind: NodeKind, _ facts: EntryFacts) -> Node {
        let place = dentry(path)
        made += 1
        let node = Node(inode: made, kind: kind, name: place.name)
        tree.insert(node, in: place.directory, facts)
        return node
    }

    mutating func rename(_ old: String, _ new: String) { tree.rename(dentry(old), to: dentry(new)) }
    mutating func link(_ old: String, _ new: String) { tree.link(node(old), as: dentry(new)) }
    mutating func unlink(_ path: String) { tree.unlink(dentry(path)) }
    mutating func mark(_ path: String, _ mark: String?) {
        tree.set(.mark(mark.flatMap { PurgeMark(text: $0) }), of: node(path))
    }

    /// The ledger's numbers.
    var numbers: FileTable.Numbers {
        var found = FileTable.Numbers()
        for (name, usage) in [
            ("tmp", ledger.temporary), ("caches", ledger.caches), ("persistent", ledger.persistent),
        ] {
            found.blocks[name] = usage.bytes.bytes / 4096
            found.files[name] = usage.files
        }
        (found.marked, found.markedFiles) = (marked, ledger.marked.files)
        (found.excluded, found.excludedFiles) = (excluded, ledger.excluded.files)
        (found.reclaimable, found.held) = (reclaimable, held)
        return found
    }

    var ledger: Ledger { tree.device.ledgers[0] }
    /// Blocks in tmp, in Library/Caches and elsewhere.
    var tiers: [Int64] { [ledger.temporary, ledger.caches, ledger.persistent].map { $0.bytes.bytes / 4096 } }
    var marked: Int64 { ledger.marked.bytes.bytes / 4096 }
    var excluded: Int64 { ledger.excluded.bytes.bytes / 4096 }
    var reclaimable: Int64 { ledger.reclaimable.bytes / 4096 }
    var held: Int64 { ledger.held.bytes / 4096 }

    /// Takes every victim, and returns their paths in order.
    mutating func popAll() -> [String] {
        var paths: [String] = []
        while let victim = tree.popVictim(step: nil) {
            paths.append(victim.file.path().text)
            tree.choose(victim.file)
        }
        return paths
    }
}

// `#expect` cannot contain a mutating call on a noncopyable value.
func expect(_ answer: Bool, is expected: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(answer == expected, sourceLocation: location)
}

func expect(_ paths: [String], are expected: [String], _ location: SourceLocation = #_sourceLocation) {
    #expect(paths == expected, sourceLocation: location)
}
