import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// The data that a scan reads about one entry of the store.
private struct Scanned {
    var status: FileStatus
    var birth: Int64?
    var attributes: StoredAttributes
    var record: ExtentRecord?
    var damage: ExtentDamage?
    /// Whether more than the status could be read.
    var isReadable = true
}

/// Hard-linked files that a scan has found.
private struct LinkedFiles {
    struct Key: Hashable {
        let device: UInt64
        let inode: UInt64
        init(_ status: FileStatus) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
    }
    var found: [Key: (node: Node, links: Int)] = [:]
}

/// The scan of the store that builds the tree, with the problems that it has found.
public final class StoreScan: VolumeFamily {
    let core: VolumeCore
    let findings = Mutex(ScanFindings())

    init(core: VolumeCore) { self.core = core }

    /// Builds the tree and the ledger from the store. `progress` gets the number of entries so far.
    func run(lastUses uses: [UInt64: Journal.LastUse], progress: (Int) -> Void) throws(StoreError) {
        var linked = LinkedFiles()
        var pending = [root]
        var count = 0
        // The entry that is being scanned.
        var place: (node: Node, name: Name?) = (root, nil)
        do throws(Errno) {
            try addRoot()
            while let directory = pending.popLast() {
                place = (directory, nil)
                let descriptor = try access.directoryDescriptor(directory)
                do throws(Errno) {
                    try access.asOwner(throughout: descriptor) { () throws(Errno) in
                        for name in try entryNames(of: directory) {
                            if count % 256 == 0, System.endSignal() != nil { throw .interrupted }
                            place = (directory, name)
                            guard let node = try scan(name, in: directory, descriptor, uses: uses, linked: &linked)
                            else { continue }
                            if node.isDirectory { pending.append(node) }
                            count += 1
                            if count % 10_000 == 0 { progress(count) }
                        }
                    }
                } catch {
                    // The directory belongs to another user, or the store is only read, so permissions are not changed.
                    guard error == .accessDenied else { throw error }
                    findings.withLock { $0.unreadable.append(directory) }
                }
            }
            passOver(linked)
        } catch .interrupted {
            throw .interrupted(store.path)
        } catch {
            throw .failed("the container cannot be read", path: pathInStore(of: place), error)
        }
        progress(count)
    }

    private func addRoot() throws(Errno) {
        let attributes = try StoredAttributes(of: store.container.raw, nil)
        note(attributes, of: root)
        let facts = EntryFacts(attributes)
        try change { (state) throws(Errno) in
            do throws(TooManyContainers) { try state.tree.addContainer(root: root, facts) } catch { throw .invalid }
        }
    }

    /// Notes the parts of the attributes that the volume keeps outside the tree.
    private func note(_ attributes: StoredAttributes, of node: Node) {
        if !attributes.policy.isEmpty { core.hasPolicies.store(true, ordering: .relaxed) }
        if attributes.hasUnknownProtection { findings.withLock { $0.unprotected.append(node) } }
        if let times = attributes.times { change { $0[node].io.setTimes = times } }
    }

    /// Excludes files that have a name outside the container from purging, because purging them would free nothing.
    private func passOver(_ linked: LinkedFiles) {
        change { state in
            for (node, links) in linked.found.values where links > state[node].nameCount {
                state.tree.noteLinkedOutside(node)
            }
        }
    }

    /// Returns the names in a directory of the store, without `.`, `..` and, in the root, `.purgefs`.
    private func entryNames(of directory: Node) throws(Errno) -> [Name] {
        let descriptor = try readable(try access.directoryDescriptor(directory))
        var names: [Name] = []
        try DirectoryBlock.forEach(of: descriptor.raw) { _, name in
            if DirectoryBlock.isDot(name) || (directory === root && ControlTree.isReserved(name)) { return }
            names.append(Name(name))
        }
        return names
    }

    /// Opens a directory for listing. Keeps the directory's access time, if that is permitted, because no app has read it.
    private func readable(_ directory: FileDescriptor) throws(Errno) -> FileDescriptor {
        let flags = O_RDONLY | O_DIRECTORY
        do throws(Errno) { return try directory.open(".", flags | System.openNoAccessTime) } catch .notPermitted {
            return try directory.open(".", flags)
        }
    }

    /// Scans an entry. Returns its node; nil for another name of a known file.
    private func scan(
        _ name: Name, in directory: Node, _ descriptor: FileDescriptor, uses: [UInt64: Journal.LastUse],
        linked: inout LinkedFiles
    ) throws(Errno) -> Node? {
        do throws(Errno) {
            return try scanEntry(name, in: directory, descriptor, uses: uses, linked: &linked)
        } catch {
            guard error == .accessDenied, geteuid() != 0 else { throw error }
        }
        let entry = try name.withCName { (name) throws(Errno) in try descriptor.open(name, System.openPath) }
        do throws(Errno) {
            return try access.asOwner(throughout: entry) { () throws(Errno) in
                try scanEntry(name, in: directory, descriptor, uses: uses, linked: &linked)
            }
        } catch .accessDenied {
            return try scanEntry(name, in: directory, descriptor, uses: uses, linked: &linked, isReadable: false)
        }
    }

    private func scanEntry(
        _ name: Name, in directory: Node, _ descriptor: FileDescriptor, uses: [UInt64: Journal.LastUse],
        linked: inout LinkedFiles, isReadable: Bool = true
    ) throws(Errno) -> Node? {
        let found = try name.withCName { (cName) throws(Errno) in
            try inspect(cName, in: descriptor.raw, isReadable: isReadable)
        }
        let inode = UInt64(found.status.st_ino)
        let link = !found.status.isDirectoryFile && found.status.st_nlink > 1 ? LinkedFiles.Key(found.status) : nil
        if let link, let node = linked.found[link]?.node {
            change { state in state.tree.link(node, as: Dentry(directory: directory, name: name)) }
            return nil
        }
        let node = access.node(found.status, named: name, birthMark: BirthMark.of(found.birth))
        note(found.attributes, of: node)
        var facts = EntryFacts(found.attributes)
        try charge(node, name, &facts, found, in: descriptor.raw)
        if let link { linked.found[link] = (node, Int(found.status.st_nlink)) }
        let life = FileLife(
            found.status, birth: found.birth, found.attributes, on: read { state in state.device.fileClock })
        facts.creation = life.born ?? life.written
        facts.lastUse = life.lastUse(node.isOnOtherDevice ? nil : uses[inode], now: clock.now)
        let known = facts
        change { state in state.tree.insert(node, in: directory, known) }
        return node
    }

    private func inspect(_ name: CName, in directory: Int32, isReadable: Bool) throws(Errno) -> Scanned {
        let status = try System.status(at: directory, name)
        var found = Scanned(status: status, birth: nil, attributes: StoredAttributes(), isReadable: isReadable)
        guard status.isRegularFile || status.isDirectoryFile else {
            found.attributes.times = try StoredAttributes.timesOfLink(in: directory, name)
            return found
        }
        guard isReadable else { return found }
        found.attributes = try StoredAttributes(of: directory, name)
        if status.isRegularFile {
            do { found.birth = try System.birthTime(at: directory, name) } catch {}
            if found.attributes.hasExtents {
                do throws(ExtentDamage) { found.record = try claimedRecord(of: directory, name) } catch {
                    if error.isForbidden { throw .accessDenied }
                    found.damage = error
                }
            }
        }
        return found
    }

    /// Charges a file that was scanned: docs/INTERNALS.md, Charged blocks.
    private func charge(
        _ node: Node, _ name: Name, _ facts: inout EntryFacts, _ found: Scanned, in directory: Int32
    ) throws(Errno) {
        guard node.isRegular else { return }
        let size = found.status.size
        facts.blocks = ByteCount(size).blocks
        // Unreadable folders are reported when they are listed.
        guard found.isReadable else { return findings.withLock { $0.unreadable.append(node) } }
        if let damage = found.damage { return try chargeDamaged(node, name, &facts, size, damage, in: directory) }
        let looksSparse = found.record == nil && Int64(found.status.st_blocks) < size / 512 + (size % 512 > 0 ? 1 : 0)
        guard found.record != nil || looksSparse else { return }
        let file = try name.withCName { (name) throws(Errno) in
            try FileDescriptor.openFile(name, O_RDONLY, in: directory)
        }
        var charged = try charges.dataExtents(of: file.raw, in: 0..<ByteCount(size).blocks)
        if let record = found.record { charged = charged.union(record.runs) }
        if found.record == nil && charged.isExactly(below: ByteCount(size).blocks) { return }
        (facts.blocks, facts.extents) = (charged.count, charged)
        var record = found.record ?? ExtentRecord(runs: ExtentSet())
        if found.record == nil && !store.isForReading {
            // Somebody has put a sparse file into the store by hand. From now on its record says that it is sparse.
            try store.setExtentRecord(&record, of: file.raw, nil)
        }
        let extents = StoredExtents(record: record, size: size)
        change { $0[node].io.extents = extents }
    }
}

extension EntryFacts {
    fileprivate init(_ attributes: StoredAttributes) {
        self.init(protection: attributes.protection)
        mark = attributes.mark
        isExcluded = attributes.isExcluded
        policy = attributes.policy
        behaviour = attributes.behaviour
    }
}
