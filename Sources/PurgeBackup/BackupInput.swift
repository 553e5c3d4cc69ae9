import Glibc
import PurgeStore
import PurgeSystem

/// A backup to be restored: a directory, or an archive that begins with the manifest.
struct BackupInput {
    let manifest: ManifestReader
    let archive: ArchiveReader

    /// The approximate limit in bytes for the manifest of an archive, which is spooled to a temporary file. It suffices for
    /// over ten million entries.
    private static let largestManifest: Int64 = 4 << 30

    /// Opens the backup at `path`, or standard input for `-`.
    init(_ path: String) throws(StoreError) {
        if path == "-" {
            // A duplicate, so that standard input itself stays open.
            let descriptor = try Self.reading("standard input") { () throws(Errno) in
                try System.duplicate(STDIN_FILENO)
            }
            (manifest, archive) = try Self.stream(descriptor, "standard input", waits: true)
            return
        }
        let place = try Self.reading(path) { () throws(Errno) in try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK) }
        let kind = try Self.reading(path) { () throws(Errno) in try System.status(place.raw).kind }
        switch kind {
        case S_IFDIR: (manifest, archive) = try Self.directory(place, path)
        case S_IFREG: (manifest, archive) = try Self.stream(place, path, waits: false)
        case S_IFIFO: (manifest, archive) = try Self.stream(place, path, waits: true)
        default: throw Self.notABackup(path, "it is neither a directory nor a file nor a pipe")
        }
    }

    private static func directory(
        _ place: FileDescriptor, _ path: String
    ) throws(StoreError) -> (ManifestReader, ArchiveReader) {
        func file(_ name: String) throws(StoreError) -> FileDescriptor {
            do throws(Errno) {
                return try place.openFile(name, O_RDONLY)
            } catch .noEntry {
                throw notABackup(path, "it has no \(name)")
            } catch .invalid, Errno(ELOOP) {
                throw notABackup(path, "\(name) is not a plain file")
            } catch { throw .ofBackup("the backup cannot be read", path: "\(path)/\(name)", error) }
        }
        let text = try file(ArchiveWriter.manifestName)
        let data = try file(BackupCreation.archiveName)
        let manifest = try ManifestReader(text, path: "\(path)/\(ArchiveWriter.manifestName)")
        let archive = try ArchiveReader(data, path: path, waitsForInput: false)
        guard let expected = manifest.totals.archive else {
            throw archive.damaged("its manifest does not belong to a directory")
        }
        let size = try reading(path) { () throws(Errno) in Int64(try System.status(data.raw).st_size) }
        guard size == expected.bytes else {
            throw archive.damaged("\(BackupCreation.archiveName) has \(size) bytes instead of \(expected.bytes)")
        }
        return (manifest, archive)
    }

    private static func stream(
        _ file: FileDescriptor, _ path: String, waits: Bool
    ) throws(StoreError) -> (ManifestReader, ArchiveReader) {
        let archive = try ArchiveReader(file, path: path, waitsForInput: waits)
        guard try archive.next() == Array(ArchiveWriter.manifestName.utf8) else {
            throw notABackup(path, "it does not begin with \(ArchiveWriter.manifestName)")
        }
        let (spool, directory) = (try Spool.make(), try Spool.directory())
        var end: Int64 = 0
        try archive.data { (bytes, offset) throws(StoreError) in
            guard offset == end, offset <= largestManifest else { throw archive.damaged("its manifest is too long") }
            do throws(Errno) { try spool.writeAll(Array(bytes)) } catch {
                throw Spool.failure("the manifest cannot be kept here", directory, error)
            }
            end += Int64(bytes.count)
        }
        return (try ManifestReader(spool, path: "\(path): \(ArchiveWriter.manifestName)"), archive)
    }

    private static func reading<Result>(
        _ path: String, _ body: () throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) { return try body() } catch { throw .ofBackup("the backup cannot be read", path: path, error) }
    }

    private static func notABackup(_ path: String, _ why: String) -> StoreError {
        StoreError(
            "this is not a backup: \(why)", path: path,
            advice: "Name a directory that `purgefs backup create` made, or an archive that it wrote. "
                + "Nothing was restored.")
    }
}
