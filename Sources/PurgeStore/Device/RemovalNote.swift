import Glibc
import PurgeSystem

/// An empty file in the store that exists for as long as a command removes files. device.json cannot say when the last of
/// them is gone: a disk that is full or fails may not let it be written any more. A file can be removed even then, and where
/// the directory lets none of its entries be removed (it is immutable, or not writable any more), the note can be given a
/// size: it means nothing then.
///
/// It is on disk before the mark in device.json, and unlinked before the mark is cleared. A mount that finds the mark alone
/// removes no files and only changes the device, so files that were made later stay.
public struct RemovalNote {
    static let name = "device.json.removing"

    let place: StoreDirectory

    /// Survives a loss of power once this returns.
    public func make() throws(StoreError) {
        do throws(Errno) {
            _ = try place.makeFresh(Self.name)
            try System.sync(place.descriptor.raw)
        } catch {
            do throws(Errno) { try place.remove(Self.name) } catch {}  // alone it means nothing
            throw .failed("it cannot be noted that files are being removed", path: path, error)
        }
    }

    /// All files are gone. Returns whether the note is gone too; if not, it means nothing any more.
    public func remove() throws(StoreError) -> Bool {
        do throws(Errno) {
            try place.remove(Self.name)
            return true
        } catch {}
        do throws(Errno) {
            try void()
            return false
        } catch {
            throw .failed("it cannot be noted that all files have been removed", path: path, error)
        }
    }

    /// Gives the note a size, which takes no room on the disk.
    private func void() throws(Errno) {
        let note = try place.descriptor.open(Self.name, O_WRONLY | O_NONBLOCK)
        try System.truncate(note.raw, 1)
        try System.sync(note.raw)
    }

    /// Whether a removal has begun and not ended.
    public var exists: Bool {
        get throws(StoreError) {
            do throws(Errno) {
                let status = try System.status(at: place.descriptor.raw, Self.name)
                return status.st_mode & S_IFMT != S_IFREG || status.st_size == 0
            } catch .noEntry {
                return false
            } catch { throw .failed("the store cannot be examined", path: path, error) }
        }
    }

    private var path: String { place.pathOf(Self.name) }
}
