import PurgeModel
import PurgeSystem
import PurgeTree

/// The files that a request names, as found in the tree.
struct Selection {
    /// The files in purge order.
    var files: [FoundFile] = []
    /// Paths that do not exist.
    var missing: [[UInt8]] = []
    /// Whether files that cannot be purged are reported, with the reason.
    var namesRefused = true
    /// Whether open files go too.
    var takesOpen = false
}

/// Plans and carries out the purges that a command requests.
struct PurgeSelections: VolumeFamily {
    let core: VolumeCore

    /// Returns the files of a request. Throws ENOENT if no pattern matches, or the place to purge in does not exist.
    func select(_ request: PurgeRequest) throws(Errno) -> Selection {
        switch request {
        case .paths(let paths): return select(paths)
        case .globs(let globs):
            let globs = globs.map { Glob($0) }
            var hasMatched = false
            let files = files(below: root, []) { path in
                let matches = globs.contains { $0.matches(path) }
                hasMatched = hasMatched || matches
                return matches
            }
            guard hasMatched else { throw .noEntry }
            return Selection(files: files)
        case .byRule(let command, let path): return try select(command, below: path ?? [])
        case .evenOpen(let request):
            var selection = try select(request)
            selection.takesOpen = true
            if case .byRule(let command, let path) = request, let top = entry(at: path ?? []) {
                selection.files += openFiles(of: command, below: top)
            }
            return selection
        }
    }

    private func select(_ paths: [[UInt8]]) -> Selection {
        var selection = Selection()
        var seen: Set<[UInt8]> = []
        for path in paths {
            guard let node = entry(at: path) else {
                selection.missing.append(path)
                continue
            }
            let found =
                node.isDirectory
                ? files(below: node, path) { _ in true } : [FoundFile(node, path)]
            selection.files += found.filter { seen.insert($0.path).inserted }
        }
        return selection
    }

    /// Returns the files that a purge by the system's rules takes in a place.
    func select(_ command: ReclaimCommand, below path: [UInt8]) throws(Errno) -> Selection {
        guard let top = entry(at: path) else { throw .noEntry }
        var files = plan(command.goal, below: path).victims.map(\.file)
        if command.takesEmptyFiles { files += emptyFiles(of: command, below: top) }
        return Selection(files: files, namesRefused: false)
    }

    func entry(at path: [UInt8]) -> Node? { read { entry(at: path, in: $0) } }

    private func entry(at path: [UInt8], in state: borrowing VolumeState) -> Node? {
        path.split(separator: UInt8(ascii: "/")).reduce(root) { (node: Node?, name) in
            node.flatMap { state[$0].entry(named: Name(utf8: name)) }
        }
    }

    /// Returns why no purge may take the file; nil if one may. A file that is no longer at its path, because the file or a
    /// folder above it was moved, counts as missing. Whether the file is busy is not considered.
    func refusal(of file: FoundFile, in state: borrowing VolumeState) -> PurgeRefusal? {
        entry(at: file.path, in: state) === file.node
            ? state[file.node].verdict(for: .file).refusals.subtracting(.busy).first : .noEntry
    }

    /// Returns the entries below a folder that are not folders, sorted by path. `takes` must accept the path of the entry, or
    /// of a folder around it that is also below `folder`.
    func files(below folder: Node, _ path: [UInt8], _ takes: ([UInt8]) -> Bool) -> [FoundFile] {
        var found: [FoundFile] = []
        var pending = [(folder: folder, path: path, isTaken: false)]
        while let next = pending.popLast() {
            for (name, node) in entries(of: next.folder) {
                let path = (next.path.isEmpty ? [] : next.path + [UInt8(ascii: "/")]) + name.utf8
                let isTaken = next.isTaken || takes(path)
                if node.isDirectory {
                    pending.append((node, path, isTaken))
                } else if isTaken {
                    found.append(FoundFile(node, path))
                }
            }
        }
        return found.inOrderOfPath
    }
}
