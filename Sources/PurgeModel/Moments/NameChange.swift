/// A recorded change of names.
struct NameChange {
    typealias File = RecordedTree.File

    /// The names that it concerns.
    let entries: [RecordedTree.Entry]
    /// The file or folder that it is about first.
    let file: File
    /// The other file that it is about: one that a rename replaces, or exchanges with `file`.
    var other: File?
    /// The folder that must be empty for it.
    var emptied: File?
    /// Whether it has made the file.
    private(set) var creates = false
    /// The folders in which it takes place, and all folders above them.
    let folders: Set<File>

    /// Carries out a call that changes names in the tree.
    init(_ call: RecordedCall, in tree: inout RecordedTree) {
        switch call.call {
        case .tmpfile:
            (entries, file) = ([], tree.newFile(node: call.node))
            creates = true
        case .link:
            file = tree.file(call.node, call.other ?? "", byDescriptor: false)
            entries = [tree.entry(call.path)]
        case .unlink, .rmdir:
            entries = [tree.entry(call.path)]
            file = tree.known(at: entries[0])
            if call.call == .rmdir { emptied = file }
        case .rename:
            entries = [tree.entry(call.path), tree.entry(call.other ?? "")]
            file = tree.known(at: entries[0])
            other = call.exchanges ? tree.known(at: entries[1]) : tree[entries[1]]
            if !call.exchanges { emptied = other }
        default:
            entries = [tree.entry(call.path)]
            file = tree.newFile(node: call.node)
            creates = true
        }
        folders = Set(entries.flatMap { tree.foldersAbove($0) })
        switch call.call {
        case .tmpfile: break
        case .unlink, .rmdir: tree.remove(entries[0])
        case .rename: tree.rename(entries[0], to: entries[1], exchanging: call.exchanges)
        default: tree.add(file, at: entries[0])
        }
    }

    var files: [File] { [file] + (other.map { [$0] } ?? []) }
}
