import Glibc
import PurgeModel
import PurgeSystem

// Paths into an earlier container, in links and in the content of files.
extension DiagnosisReader {
    /// Returns the target of a link that leads into another container.
    func staleTarget(of name: RawText, in folder: Folder) -> DiagnosedEntry.StalePath? {
        do throws(Errno) {
            let text = try System.readLink(at: folder.descriptor.raw, name).map { UInt8(bitPattern: $0) }
            guard let path = ContainerPath(text[...]), path.container != present else { return nil }
            return stalePath(path)
        } catch { return nil }
    }

    /// Returns the entry with everything that its content tells. The content is read in the store, so that it is not a use, and
    /// neither the protection class nor a lock on the file matters. Files that cannot be read are skipped.
    func examined(_ found: Found) -> DiagnosedEntry {
        var entry = found.entry
        guard entry.isFile, entry.size > .zero, let content = container.content else { return entry }
        var texts = StaleTexts(present: present)
        do throws(Errno) {
            let file = try Self.openForReading(found.path, in: content)
            let size = Int64(try System.status(file.raw).st_size)
            guard let format = StaleTexts.Format(try file.readSome(StaleTexts.Format.beginning, at: 0)),
                size <= format.largest, container.mayRead(size)
            else { return entry }
            let log = format == .database ? log(of: found.path, in: content, most: format.largest) : []
            texts.examine(try file.readAll(limit: format.largest), format, log: log)
        } catch { return entry }
        entry.stalePath = texts.first.map { stalePath($0.path, texts: texts.count, in: $0.place) }
        return entry
    }

    /// The UUID of the container now, in capital letters.
    private var present: String { container.status.app.container.uppercased() }

    private func stalePath(
        _ path: ContainerPath, texts: Int? = nil, in place: String? = nil
    ) -> DiagnosedEntry.StalePath {
        .init(
            path: path, texts: texts, place: place, end: container.lives.end(of: path.container),
            isHere: !isMissing(path.inner))
    }

    /// Returns the write-ahead log of a database; nothing if there is none or it cannot be read. It is read before the
    /// database: a checkpoint in between copies pages that the log has already shown.
    private func log(of path: [UInt8], in content: FileDescriptor, most: Int) -> [UInt8] {
        do throws(Errno) {
            let file = try Self.openForReading(path + "-wal".utf8, in: content)
            let size = Int64(try System.status(file.raw).st_size)
            guard size <= most, container.mayRead(size) else { return [] }
            return try file.readAll(limit: most)
        } catch { return [] }
    }

    /// Opens a regular file without following links, waiting, or changing its access time.
    private static func openForReading(
        _ path: [UInt8], in content: FileDescriptor
    ) throws(Errno) -> FileDescriptor {
        let place = try FileDescriptor.openWithoutLinks(path, from: content)
        guard try System.status(place.raw).isRegularFile else { throw .invalid }
        return try FileDescriptor.open(
            "/proc/self/fd/\(place.raw)", O_RDONLY | O_NONBLOCK | System.openNoAccessTime)
    }
}
