import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// Creates a new store whose container is a copy (docs/CLI.md, run).
package struct StoreCopy {
    private static let kind = UnfinishedDirectory.Kind(what: "the store", suffix: ".unfinished-copy")

    private let origin: CopyOrigin
    private let progress: BackupProgress

    /// `progress` interrupts the work when a signal tells this process to end.
    package init(of origin: CopyOrigin, _ progress: BackupProgress) {
        (self.origin, self.progress) = (origin, progress)
    }

    /// Creates the store at `path`, which must not exist, or must be an empty directory. Nothing appears there until the copy
    /// is complete. The store gets the mark of `start`, so that start can remove the store until another process opens it to
    /// change it. With `expected`, a copy at any other place is refused.
    package func make(
        at path: String, expected: ExpectedStore? = nil, start: String
    ) throws(StoreError) -> NewStore {
        try check(below: try absolute(path, path.parentPath))
        let unfinished = try UnfinishedDirectory(for: path, Self.kind, expected: expected)
        do throws(StoreError) {
            let store = try Store.make(in: unfinished.descriptor, path: unfinished.workPath)
            try fill(store)
            do throws(Errno) { try System.syncFileSystem(store.directory.raw) } catch {
                throw .failed("the store cannot be made", path: path, error)
            }
            try progress.step()
            store.leaveMark(of: start)
            let made = try NewStore(unfinished, start: start)
            try unfinished.publish("the store")
            return made
        } catch {
            unfinished.discard()
            throw error
        }
    }

    /// Fills a store that was just created. If this fails, the caller must remove the store.
    package func fill(temporary store: Store) throws(StoreError) {
        try check(below: store.absolutePath)
        try fill(store)
    }

    private func fill(_ store: Store) throws(StoreError) {
        switch origin {
        case .store(let path): try fill(store, fromStore: path)
        case .directory(let path):
            var copy = TreeCopy(try CopySource(directory: path), to: store, progress)
            try copy.run()
            try saving { () throws(StoreError) in try save(copy.uses, in: store) }
        }
    }

    /// Copies the container and the device's settings, with a new UUID. The journal is new, and gets only the times of last
    /// use, which decide the order of purging.
    private func fill(_ store: Store, fromStore path: String) throws(StoreError) {
        let prepared = try Store.openForReading(path, forCopying: true)
        let device = try prepared.loadSettings()
        if let work = device.unfinished {
            throw StoreError(
                "\(work.text) was interrupted, and some of its files are still to be removed", path: path,
                advice: "The next mount finishes it: mount the store, and try again.")
        }
        let source = CopySource(
            prepared, device, try JournalReader(storePath: prepared.absolutePath).lastUses())
        try CopyLock(source: source, progress: progress).take()
        var copy = TreeCopy(source, to: store, progress)
        try copy.run()
        var copied = device.asSaved
        copied.containerID = Device.fresh().containerID
        try saving { () throws(StoreError) in
            try save(copy.uses, in: store)
            try store.saveSettings(copied)
        }
    }

    private func saving(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) { try body() } catch {
            var failure = error
            failure.reach = .fileSystem
            throw failure
        }
    }

    private func save(_ uses: [Journal.LastUse], in store: Store) throws(StoreError) {
        if uses.isEmpty { return }
        let journal = try Journal.open(in: store)
        defer { journal.close() }
        try journal.saveLastUses(uses)
    }

    /// Refuses a store inside the copied tree, which would be copied into itself without end.
    private func check(below store: String) throws(StoreError) {
        if store.pathRest(after: try absolute(origin.path, origin.path)) != nil { throw CopyOrigin.refusal(store) }
    }

    private func absolute(_ path: String, _ place: String) throws(StoreError) -> String {
        do throws(Errno) { return try System.resolvedOrParent(path) } catch {
            throw .failed("it cannot be found", path: place, error)
        }
    }
}

/// A new store that its creator can still withdraw.
public struct NewStore: Sendable {
    private let path: String
    private let start: String
    /// The mode of the empty directory that was there before; nil if there was none.
    private let modeBefore: mode_t?
    public let directory: KnownDirectory

    init(_ made: UnfinishedDirectory, start: String) throws(StoreError) {
        (path, self.start, modeBefore) = (made.path, start, made.before?.mode)
        do throws(Errno) {
            directory = try KnownDirectory(made.descriptor)
        } catch { throw .failed("the store cannot be made", path: made.path, error) }
    }

    /// Removes the store after a failed start, unless another process uses it or has used it. An empty directory that was there
    /// before stays. Errors are ignored.
    package func withdraw() {
        do throws(Errno) {
            let parent = try FileDescriptor.open(path.parentPath, O_RDONLY | O_DIRECTORY)
            guard let name = path.pathNames.last else { return }
            let store = try parent.open(name, O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(store.raw)
            // If somebody has put something into it, or another directory in its place, everything stays.
            let entries = try store.open(".", O_RDONLY | O_DIRECTORY).entryNames()
            guard entries.allSatisfy(StoreAtRest.isOwnName),
                FileIdentity(try System.status(at: parent.raw, name)) == FileIdentity(try System.status(store.raw)),
                try StoreAtRest.takeMark(of: start, from: store)
            else { return }
            for entry in entries {
                do throws(Errno) { try System.unlink(at: store.raw, entry) } catch .isDirectory {
                    try TreeRemoval.run(entry, in: store)
                }
            }
            if let modeBefore { return try System.changeMode(store.raw, modeBefore) }
            try System.removeDirectory(at: parent.raw, name)
        } catch {}
    }
}
