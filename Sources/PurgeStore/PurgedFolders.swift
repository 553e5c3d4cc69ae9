import Glibc
import PurgeSystem

/// STORE/purgefs.purged. A folder that is purged as a whole is moved here in one step, and emptied here.
public struct PurgedFolders {
    static let name = "purgefs.purged"

    let place: StoreDirectory

    /// Opens a folder in STORE/purgefs.purged with O_PATH. Makes it if it is missing.
    public func open(_ name: String) throws(Errno) -> FileDescriptor {
        try open(name, in: open(Self.name, in: place.descriptor))
    }

    private func open(_ name: String, in parent: FileDescriptor) throws(Errno) -> FileDescriptor {
        do throws(Errno) { try place.makeFolder(name, in: parent, mode: 0o700) } catch .exists {}
        return try parent.open(name, System.openPath | O_DIRECTORY | O_NOFOLLOW)
    }

    /// Removes what a purge left behind in these folders because its daemon was killed. Called before the store is scanned.
    public func remove(_ names: [String]) throws(StoreError) {
        do throws(Errno) {
            let purged = try place.descriptor.open(Self.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            for name in names { try TreeRemoval.run(name, in: purged) }
        } catch .noEntry {} catch {
            throw .failed("files of an interrupted purge cannot be removed", path: place.pathOf(Self.name), error)
        }
    }
}
