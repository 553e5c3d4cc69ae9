// Names and their entries.
extension ReferenceLedger {
    static func components(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    func directoryID(_ components: some Sequence<String>) -> DirectoryID {
        components.reduce(.root) { at, name in
            guard case .directory(let next)? = directories[at]?.entries[name] else {
                preconditionFailure("\(name) is no directory")
            }
            return next
        }
    }

    /// Returns the directory that contains `path`, and the name in it.
    func position(_ path: String) -> (directory: DirectoryID, name: String) {
        let names = Self.components(path)
        guard let last = names.last else { preconditionFailure("the root has no name") }
        return (directoryID(names.dropLast()), last)
    }

    func entry(_ path: String) -> Entry? {
        if Self.components(path).isEmpty { return .directory(.root) }
        let (directory, name) = position(path)
        return directories[directory]?.entries[name]
    }

    mutating func put(_ entry: Entry?, at path: String) {
        let (directory, name) = position(path)
        directories[directory]?.entries[name] = entry
    }

    /// Returns the file at `path`; nil for any other entry.
    public func fileID(at path: String) -> FileID? {
        if case .file(let id)? = entry(path) { id } else { nil }
    }

    public mutating func makeDirectory(_ path: String) {
        precondition(entry(path) == nil, "\(path) exists")
        let id = DirectoryID(number: newNumber())
        directories[id] = Directory()
        put(.directory(id), at: path)
    }

    public mutating func removeDirectory(_ path: String) {
        guard case .directory(let id)? = entry(path), directories[id]?.entries.isEmpty == true else {
            preconditionFailure("\(path) is no empty directory")
        }
        put(nil, at: path)
        directories[id] = nil
    }

    /// Creates a symbolic link, FIFO or socket.
    public mutating func makeOther(_ path: String) {
        precondition(entry(path) == nil, "\(path) exists")
        put(.other, at: path)
    }

    /// Models open(2) with O_CREAT of a new name; the file is open once.
    public mutating func create(_ path: String) -> FileID {
        precondition(entry(path) == nil, "\(path) exists")
        let id = FileID(number: newNumber())
        files[id] = File(opens: 1)
        put(.file(id), at: path)
        noteUse(of: id)
        settleNames()
        return id
    }

    @discardableResult
    public mutating func open(_ path: String, truncating: Bool = false) -> FileID {
        guard let id = fileID(at: path) else { preconditionFailure("\(path) is no file") }
        change(id) { $0.opens += 1 }
        noteUse(of: id)
        if truncating { truncate(id, to: 0) }
        return id
    }

    public mutating func close(_ id: FileID) {
        precondition(file(id).opens > 0, "the file is not open")
        change(id) { $0.opens -= 1 }
        settleNames()
    }

    public mutating func link(_ old: String, _ new: String) {
        guard let id = fileID(at: old), entry(new) == nil else { preconditionFailure("cannot link \(old) to \(new)") }
        put(.file(id), at: new)
        settleNames()
    }

    /// Removes a name of anything but a directory.
    public mutating func unlink(_ path: String) {
        if case .directory? = entry(path) { preconditionFailure("\(path) is a directory") }
        precondition(entry(path) != nil, "\(path) is not there")
        put(nil, at: path)
        settleNames()
    }

    /// Models rename(2) of a file or tree, which replaces an existing entry. Between two names of one file it does nothing
    /// (POSIX).
    public mutating func rename(_ old: String, _ new: String) {
        guard let moving = entry(old) else { preconditionFailure("\(old) is not there") }
        if let id = fileID(at: old), id == fileID(at: new) { return }
        if Self.components(old) == Self.components(new) { return }
        if case .directory? = entry(new) { removeDirectory(new) }
        put(nil, at: old)
        put(moving, at: new)
        settleNames()
    }

    /// Models renameat2(2) with RENAME_EXCHANGE.
    public mutating func exchange(_ a: String, _ b: String) {
        guard let first = entry(a), let second = entry(b) else { preconditionFailure("\(a) or \(b) is not there") }
        put(second, at: a)
        put(first, at: b)
        settleNames()
    }

    /// Sets isPurgeable of a file or directory; nil removes it.
    public mutating func mark(_ path: String, _ mark: Mark?) {
        switch entry(path) {
        case .directory(let id)?: directories[id]?.mark = mark
        case .file(let id)?: change(id) { $0.ownMark = mark }
        case .other?, nil: preconditionFailure("\(path) cannot be marked")
        }
        settleNames()
    }

    /// Models an unmount and a mount, after which nothing is open.
    public mutating func remount() {
        for id in files.keys { change(id) { $0.opens = 0 } }
        pressure = .normal
        settleNames()
    }
}

// Properties derived from the names.
extension ReferenceLedger {
    /// The path of an entry, and the properties that follow from it.
    struct Place {
        var path: String
        var tier: Tier
        var inherited: Mark?
    }

    /// Recomputes tier and mark of all files from the whole tree. Drops files that have neither a name nor a descriptor.
    mutating func settleNames() {
        var found: [FileID: [Place]] = [:]
        walk { entry, place in
            if case .file(let id) = entry { found[id, default: []].append(place) }
        }
        for id in files.keys {
            let places = found[id] ?? []
            if places.isEmpty, file(id).opens == 0 {
                files[id] = nil
                continue
            }
            change(id) { file in
                file.names = places.map(\.path)
                guard let first = places.first else { return }
                file.tier = places.map(\.tier).max { $0.durability < $1.durability } ?? first.tier
                // The nearest own value wins; a hard-linked file does not inherit one.
                file.mark = file.ownMark ?? (places.count == 1 ? first.inherited : nil)
            }
        }
        judgePressure()
    }

    func walk(_ visit: (Entry, Place) -> Void) {
        var pending = [(id: DirectoryID.root, place: rootPlace)]
        while let (id, above) = pending.popLast() {
            guard let directory = directories[id] else { continue }
            for (name, entry) in directory.entries {
                let place = self.place(of: name, entry, in: above)
                visit(entry, place)
                if case .directory(let next) = entry { pending.append((next, place)) }
            }
        }
    }

    var rootPlace: Place { Place(path: "", tier: .persistent, inherited: directories[.root]?.mark) }

    /// Returns the place of an entry below `above`; for a directory, it includes the directory's own mark.
    func place(of name: String, _ entry: Entry?, in above: Place) -> Place {
        var place = above
        place.path = above.path.isEmpty ? name : above.path + "/" + name
        if place.path == "tmp" { place.tier = .temporary }
        if place.path == "Library/Caches" { place.tier = .caches }
        if case .directory(let id)? = entry { place.inherited = directories[id]?.mark ?? above.inherited }
        return place
    }
}
