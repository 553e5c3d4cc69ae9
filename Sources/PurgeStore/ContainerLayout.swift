import Glibc
import PurgeModel
import PurgeSystem

/// The container of a store, and the folders in it.
struct ContainerLayout {
    let place: StoreDirectory

    /// Folders of a new container, parents first.
    static let folders = StandardFolders.paths

    func make() throws(StoreError) {
        try makeDirectory("container", in: place.descriptor, path: place.pathOf("container"))
        let container = try container(openingUp: true)
        for folder in Self.folders {
            let parts = folder.split(separator: "/").map(String.init)
            let parent = parts.count == 1 ? container : try subdirectory(parts[0], of: container)
            // The app may have put a file or a link in a folder's place, or removed the folder's permissions. Neither is
            // changed.
            if let parent, let name = parts.last {
                try makeDirectory(name, in: parent, path: place.pathOf("container/\(folder)"), isNeeded: false)
            }
        }
    }

    /// Opens the container. With `openingUp`, opens it even if the app has removed the owner's permissions, provided that this
    /// user is the owner.
    func container(openingUp: Bool = false) throws(StoreError) -> FileDescriptor {
        let path = place.pathOf("container")
        do {
            return try openContainer(openingUp: openingUp)
        } catch .noEntry {
            throw StoreError(
                "the store has lost its container", path: path,
                advice: "Put the folder back, or make an empty one: "
                    + "`purgefs check --repair \(ShellWord.of(place.path))`.")
        } catch .notDirectory, Errno(ELOOP) {
            throw StoreError(
                "is not a directory", path: path,
                advice: "The container of a store is a directory; move this out of the way.")
        } catch { throw .failed("the container cannot be opened", path: path, error) }
    }

    private func openContainer(openingUp: Bool) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            return try place.descriptor.open("container", O_RDONLY | O_DIRECTORY)
        } catch {
            guard error == .accessDenied, openingUp else { throw error }
        }
        let closed = try place.descriptor.open("container", System.openPath | O_DIRECTORY)
        let mode = try System.status(closed.raw).st_mode & 0o7777
        do throws(Errno) { try System.changeMode(closed.raw, mode | S_IRWXU) } catch { throw .accessDenied }
        // Restoring the mode is allowed, as the call above has shown.
        defer { do throws(Errno) { try System.changeMode(closed.raw, mode) } catch {} }
        return try place.descriptor.open("container", O_RDONLY | O_DIRECTORY)
    }

    private func subdirectory(_ name: String, of parent: FileDescriptor) throws(StoreError) -> FileDescriptor? {
        do {
            return try parent.open(name, O_RDONLY | O_DIRECTORY)
        } catch .notDirectory, .noEntry, Errno(ELOOP), .accessDenied {
            return nil
        } catch {
            throw .failed("a folder of the container cannot be opened", path: place.pathOf("container/\(name)"), error)
        }
    }

    private func makeDirectory(
        _ name: String, in parent: FileDescriptor, path: String, isNeeded: Bool = true
    ) throws(StoreError) {
        do {
            try place.makeFolder(name, in: parent, mode: 0o755)
        } catch .exists {
            // The folder exists, or the app has put another entry in its place, which stays.
        } catch let error where error == .accessDenied && !isNeeded {
            // The folder above may not be writable.
        } catch { throw .failed("the folder cannot be made", path: path, error) }
    }
}
