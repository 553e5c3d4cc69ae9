import Glibc
import PurgeSystem

/// An empty file in the store that exists while a reboot, an update or a deletion removes files (`DeviceWork`). device.json
/// cannot reliably record that the last of the files is gone, because writing it may fail on a full or failing disk. A file can
/// be unlinked even then. If the directory does not allow an unlink (it is immutable, or no longer writable), `remove` gives
/// the note a size instead, which voids it.
///
/// The note is on disk before the mark in device.json, and unlinked before the mark is cleared. A mount that finds only the mark
/// changes the device and removes no files, so files that were made later stay.
public struct RemovalNote {
    static let name = "device.json.removing"

    let place: StoreDirectory

    /// Creates the note. It survives a power loss once this returns.
    public func make() throws(StoreError) {
        do throws(Errno) {
            _ = try place.makeFresh(Self.name)
            try System.sync(place.descriptor.raw)
        } catch {
            do throws(Errno) { try place.remove(Self.name) } catch {}  // without the mark, the note means nothing
            throw .failed("the removal of files cannot be recorded", path: path, error)
        }
    }

    /// Ends the removal after all files are gone. Returns true if the note was unlinked, and false if it was voided instead.
    public func remove() throws(StoreError) -> Bool {
        do throws(Errno) {
            try place.remove(Self.name)
            return true
        } catch {}
        do throws(Errno) {
            try void()
            return false
        } catch {
            throw .failed("the end of the removal cannot be recorded", path: path, error)
        }
    }

    /// Voids the note by giving it a size, which takes no room on the disk.
    private func void() throws(Errno) {
        let note = try place.descriptor.open(Self.name, O_WRONLY | O_NONBLOCK)
        try System.truncate(note.raw, 1)
        try System.sync(note.raw)
    }

    /// Whether a removal has begun and not ended. An entry that is not a regular file counts as a note.
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
