import Glibc
import PurgeModel
import PurgeSystem

/// Why the record of a file's extents cannot be used.
public struct ExtentDamage: Error, Hashable, Sendable {
    /// The rest of a sentence that begins with "its record of charged blocks".
    public let what: String
    /// Whether nothing is known about the charged blocks, so that the file counts as full. A power loss or a failed read can
    /// cause that. All other damage comes from another program.
    public let countsAsFull: Bool
    /// Whether the record cannot be read only for lack of permission.
    public let isForbidden: Bool

    public init(what: String, countsAsFull: Bool, isForbidden: Bool = false) {
        self.what = what
        self.countsAsFull = countsAsFull
        self.isForbidden = isForbidden
    }
}

// The attribute is `i` and the runs, or `s` and the name of a sidecar file in STORE/extents.
//
// A sidecar is on disk before an attribute names it, and is replaced as a whole under its own name. So after a power loss an
// attribute names either the old list or the new one.
extension Store {
    /// Returns the record of a file, or nil if the file does not have the attribute.
    public func extentRecord(of file: Int32, _ name: CName?) throws(ExtentDamage) -> ExtentRecord? {
        let value: [UInt8]
        do throws(Errno) {
            guard let found = try attribute(of: file, name, ExtentRecord.key) else { return nil }
            value = found
        } catch .range {
            throw ExtentDamage(what: "is not a list", countsAsFull: false)
        } catch {
            throw ExtentDamage(
                what: "cannot be read: \(error)", countsAsFull: true, isForbidden: error == .accessDenied)
        }
        switch value.first {
        case UInt8(ascii: "i"):
            guard let runs = ExtentRecord.decode(value.dropFirst()) else {
                throw ExtentDamage(what: "is not a list", countsAsFull: false)
            }
            return ExtentRecord(runs: runs)
        case UInt8(ascii: "s"):
            guard let sidecar = Self.sidecarName(value.dropFirst()) else {
                throw ExtentDamage(what: "does not name a sidecar of purgefs", countsAsFull: false)
            }
            return ExtentRecord(runs: try runs(ofSidecar: sidecar), sidecar: sidecar)
        default:
            throw ExtentDamage(what: "is not a list", countsAsFull: false)
        }
    }

    private func runs(ofSidecar name: String) throws(ExtentDamage) -> ExtentSet {
        let bytes: [UInt8]
        do throws(Errno) {
            let file = try sidecars(making: false).openFile(name, O_RDONLY)
            guard try System.status(file.raw).st_nlink == 1 else { throw .invalid }
            bytes = try file.readAll(limit: ExtentRecord.sidecarLimit)
        } catch .noEntry {
            throw ExtentDamage(what: "is in a sidecar that is missing, extents/\(name)", countsAsFull: true)
        } catch .fileTooLarge {
            throw ExtentDamage(what: "is in a sidecar that is too long, extents/\(name)", countsAsFull: false)
        } catch .invalid, Errno(ELOOP), .notDirectory {
            throw ExtentDamage(what: "is in a sidecar that is not a plain file, extents/\(name)", countsAsFull: false)
        } catch { throw ExtentDamage(what: "cannot be read from extents/\(name): \(error)", countsAsFull: true) }
        guard !bytes.isEmpty else {
            throw ExtentDamage(what: "is in a sidecar that is empty, extents/\(name)", countsAsFull: true)
        }
        guard let runs = ExtentRecord.decode(bytes) else {
            throw ExtentDamage(what: "is damaged in its sidecar, extents/\(name)", countsAsFull: false)
        }
        return runs
    }

    /// Replaces a file's record, which goes to a sidecar if it is too long for the attribute. Updates `record.sidecar`.
    public func setExtentRecord(_ record: inout ExtentRecord, of file: Int32, _ name: CName?) throws(Errno) {
        let encoded = ExtentRecord.encode(record.runs)
        if encoded.count <= ExtentRecord.inlineLimit {
            try System.setAttribute(at: file, name, ExtentRecord.key, [UInt8(ascii: "i")] + encoded)
            if let old = record.sidecar { removeSidecar(old) }
            record.sidecar = nil
        } else if let sidecar = record.sidecar {
            let folder = try writeSidecar(sidecar, encoded)
            // The new list is already in use, even if the sync fails.
            do throws(Errno) { try System.sync(folder.raw) } catch {}
        } else {
            let sidecar = Self.newSidecarName()
            do throws(Errno) {
                let folder = try writeSidecar(sidecar, encoded)
                try System.sync(folder.raw)
                try System.setAttribute(at: file, name, ExtentRecord.key, [UInt8(ascii: "s")] + Array(sidecar.utf8))
            } catch {
                removeSidecar(sidecar)
                throw error
            }
            record.sidecar = sidecar
        }
    }

    public func dropExtentRecord(_ record: ExtentRecord, of file: Int32, _ name: CName?) throws(Errno) {
        do { try System.removeAttribute(at: file, name, ExtentRecord.key) } catch .noData {}
        if let sidecar = record.sidecar { removeSidecar(sidecar) }
    }

    /// Removes a sidecar that no file needs any more. `removeLeftSidecars` retries a removal that fails, and `purgefs check`
    /// finds a sidecar that remains.
    public func removeSidecar(_ name: String) {
        if !tryToRemoveSidecar(name) { leftSidecars.withLock { _ = $0.insert(name) } }
    }

    public func removeLeftSidecars() {
        leftSidecars.withLock { left in left = left.filter { !tryToRemoveSidecar($0) } }
    }

    /// Returns whether the sidecar is gone.
    private func tryToRemoveSidecar(_ name: String) -> Bool {
        do throws(Errno) {
            let directory = try sidecars(making: false)
            try System.unlink(at: directory.raw, name)
            return true
        } catch { return error == .noEntry }
    }

    /// Returns an attribute's value, or nil if the file does not have the attribute. Throws ERANGE for a value of more than
    /// 1024 bytes.
    public func attribute(of file: Int32, _ name: CName?, _ key: CName) throws(Errno) -> [UInt8]? {
        do { return try System.attribute(at: file, name, key, limit: 1024) } catch .noData { return nil }
    }
}

// Sidecars.
extension Store {
    private static let newSuffix = ".new"

    private static func newSidecarName() -> String { String(UInt64.random(in: 0 ... .max), radix: 36) }

    /// Returns the name if it has the form of the names that `newSidecarName` produces; otherwise nil. Other programs can write
    /// the attribute too, and a name with a slash would lead out of the store.
    static func sidecarName(_ bytes: some Collection<UInt8>) -> String? {
        let isOurs = bytes.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return isOurs && (1...13).contains(bytes.count) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Writes a list under its sidecar's name. The list is on disk when this returns. Its name is on disk only after a sync of
    /// the returned folder.
    private func writeSidecar(_ name: String, _ content: [UInt8]) throws(Errno) -> FileDescriptor {
        guard content.count <= ExtentRecord.sidecarLimit else { throw .fileTooLarge }
        let folder = try sidecars(making: true)
        let new = name + Self.newSuffix
        leftSidecars.withLock { _ = $0.remove(new) }
        do { try System.unlink(at: folder.raw, new) } catch .noEntry {}
        do throws(Errno) {
            let file = try folder.open(new, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            place.giveToOwner(file.raw)
            try file.writeAll(content)
            try System.sync(file.raw)
            try System.rename(at: folder.raw, new, to: folder.raw, name)
        } catch {
            removeSidecar(new)
            throw error
        }
        return folder
    }

    /// Returns a problem for each entry in STORE/extents that is not in `needed`. An interrupted change, or the removal of a
    /// file, may leave such entries. With `removing`, removes the entries that can be removed.
    public func straySidecars(needed: Set<String>, removing: Bool) throws(StoreError) -> [StoreProblem] {
        let folder: FileDescriptor
        let names: [String]
        do throws(Errno) {
            folder = try sidecars(making: false)
            names = try folder.open(".", O_RDONLY | O_DIRECTORY).entryNames()
        } catch .noEntry { return [] } catch {
            throw .failed("the sidecars cannot be listed", path: place.pathOf(StoreDirectory.extentsName), error)
        }
        return names.filter { !needed.contains($0) }.sorted().map { name in
            var problem = StoreProblem(
                path: place.pathOf(StoreDirectory.extentsName) + "/" + SettingsDamage.visible(name),
                what: "belongs to no file of the container",
                advice: "`purgefs check --repair \(ShellWord.of(path))` removes it; nothing is lost with it.",
                isRepairable: true)
            guard removing else { return problem }
            do throws(Errno) {
                try System.unlink(at: folder.raw, name)
                problem.repair = "It has been removed."
            } catch { problem.advice = "It cannot be removed (\(error)): examine it by hand." }
            return problem
        }
    }
}
