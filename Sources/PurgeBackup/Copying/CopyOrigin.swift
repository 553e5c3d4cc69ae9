import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// What a new container is filled with before its first mount.
public enum CopyOrigin: Sendable {
    /// A store that is not mounted.
    case store(String)
    /// An ordinary directory; what is in it becomes what is in the container.
    case directory(String)

    var path: String {
        switch self {
        case .store(let path), .directory(let path): path
        }
    }

    static func refusal(_ store: String) -> StoreError {
        StoreError(
            "the new store would be in what is copied", path: store,
            advice: "Name a directory outside of it: --store DIR, or TMPDIR for a temporary store.")
    }
}

/// Makes a new store whose container is a copy (docs/CLI.md, run).
public struct StoreCopy {
    private static let kind = UnfinishedDirectory.Kind(
        what: "the store", suffix: ".unfinished-copy", isOurs: StoreAtRest.isOwnName)

    private let origin: CopyOrigin
    private let progress: BackupProgress

    /// `progress` ends the work when a signal has told this process to end.
    public init(of origin: CopyOrigin, _ progress: BackupProgress) {
        (self.origin, self.progress) = (origin, progress)
    }

    /// `path` must not exist, or be an empty directory. Until the copy is complete there is nothing there.
    public func make(at path: String) throws(StoreError) {
        try check(below: try absolute(path, path.parentPath))
        let unfinished = try UnfinishedDirectory(for: path, Self.kind)
        do throws(StoreError) {
            let store = try Store.make(in: unfinished.descriptor, path: unfinished.workPath)
            try fill(store)
            do throws(Errno) { try System.syncFileSystem(store.directory.raw) } catch {
                throw .failed("the store cannot be made", path: path, error)
            }
            try progress.step()
            try unfinished.publish("the store")
        } catch {
            unfinished.discard()
            throw error
        }
    }

    /// Fills a store that was just made, and that the caller removes if this fails.
    public func fill(temporary store: Store) throws(StoreError) {
        try check(below: store.absolutePath)
        try fill(store)
    }

    private func fill(_ store: Store) throws(StoreError) {
        switch origin {
        case .store(let path): try fill(store, fromStore: path)
        case .directory(let path):
            var copy = TreeCopy(try CopySource(directory: path), to: store, progress)
            try copy.run()
            try save(copy.uses, in: store)
        }
    }

    /// Container and device. The journal is a new one: only the order of purging is kept.
    private func fill(_ store: Store, fromStore path: String) throws(StoreError) {
        let prepared = try Store.openForReading(path)
        let device = try prepared.loadSettings()
        if let work = device.unfinished {
            throw StoreError(
                "\(work.text) was interrupted, and some of its files are still to be removed", path: path,
                advice: "The next mount finishes it: mount the store, and try again.")
        }
        let uses = try JournalReader(storePath: prepared.absolutePath).lastUses()
        var copy = TreeCopy(CopySource(prepared, device, uses), to: store, progress)
        try copy.run()
        try save(copy.uses, in: store)
        var copied = device.asSaved
        copied.containerID = Device.fresh().containerID
        try store.saveSettings(copied)
    }

    private func save(_ uses: [Journal.LastUse], in store: Store) throws(StoreError) {
        if uses.isEmpty { return }
        let journal = try Journal.open(in: store)
        defer { journal.close() }
        try journal.saveLastUses(uses)
    }

    /// A directory in the tree that is copied would be copied into itself without end.
    private func check(below store: String) throws(StoreError) {
        if store.pathRest(after: try absolute(origin.path, origin.path)) != nil { throw CopyOrigin.refusal(store) }
    }

    private func absolute(_ path: String, _ place: String) throws(StoreError) -> String {
        do throws(Errno) { return try System.resolvedOrParent(path) } catch {
            throw .failed("it cannot be found", path: place, error)
        }
    }
}
