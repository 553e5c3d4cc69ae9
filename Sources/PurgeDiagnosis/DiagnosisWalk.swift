import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem

/// Visits everything below a folder of a container: each folder before its content, and entries in byte order of their names.
/// Entries that disappear meanwhile, may not be examined or are on another file system are skipped. A folder that may not be
/// opened is visited, but its content is skipped with a warning.
struct DiagnosisWalk {
    let reader: DiagnosisReader
    private var container: DiagnosedContainer { reader.container }

    init(_ container: DiagnosedContainer) { reader = DiagnosisReader(container: container) }

    private struct Level {
        let folder: DiagnosisReader.Folder
        /// The names still to visit, in reverse order.
        var names: [RawText]
        /// The normalized names that several entries share. The names of these entries differ only in case or Unicode form.
        let equal: Set<String>
    }

    /// Visits the entries below `folder`, but not `folder` itself.
    func run(
        below folder: DiagnosisReader.Folder, _ visit: (DiagnosisReader.Found) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let device: UInt
        do throws(Errno) { device = UInt(try System.status(container.root.raw).st_dev) } catch {
            throw container.failure("", error)
        }
        var levels = try [level(folder)].compactMap { $0 }
        while let last = levels.indices.last {
            guard let name = levels[last].names.popLast() else {
                levels.removeLast()
                continue
            }
            guard let found = try find(name, levels[last]), UInt(found.status.st_dev) == device else { continue }
            try visit(found)
            guard found.entry.kind == .folder, let inner = try descend(found, levels[last].folder) else { continue }
            levels.append(inner)
        }
    }

    private func find(_ name: RawText, _ level: Level) throws(CommandFailure) -> DiagnosisReader.Found? {
        do throws(Errno) {
            let found = try reader.read(name, in: level.folder)
            guard !level.equal.isEmpty, level.equal.contains(Self.form(name)) else { return found }
            var entry = found.entry
            entry.nameProblem = .equal
            return .init(entry: entry, status: found.status, path: found.path, name: found.name)
        } catch .noEntry, .accessDenied { return nil } catch {
            throw container.failure(level.folder.text, error)
        }
    }

    private func descend(
        _ found: DiagnosisReader.Found, _ folder: DiagnosisReader.Folder
    ) throws(CommandFailure) -> Level? {
        guard let name = found.name else { return nil }
        let descriptor: FileDescriptor
        do throws(Errno) { descriptor = try folder.descriptor.open(name, O_RDONLY | O_DIRECTORY) } catch .noEntry,
            .notDirectory, Errno(ELOOP)
        { return nil } catch .accessDenied {
            container.note(
                "\(VisibleText.of(found.entry.path)): it cannot be read, so its content was not checked")
            return nil
        } catch { throw container.failure(found.entry.path, error) }
        return try level(.init(descriptor: descriptor, path: found.path, standing: found.entry.standing))
    }

    private func level(_ folder: DiagnosisReader.Folder) throws(CommandFailure) -> Level? {
        do throws(Errno) {
            // Reading through a second descriptor leaves the position of the first unchanged.
            let names = try folder.descriptor.open(".", O_RDONLY | O_DIRECTORY).names()
            return Level(
                folder: folder, names: names.sorted { left, right in strcmp(left, right) > 0 },
                equal: Self.equal(names))
        } catch .noEntry { return nil } catch { throw container.failure(folder.text, error) }
    }

    private static func equal(_ names: [RawText]) -> Set<String> {
        var seen: Set<String> = []
        var equal: Set<String> = []
        for name in names {
            let form = form(name)
            if !seen.insert(form).inserted { equal.insert(form) }
        }
        return equal
    }

    /// Normalizes the case of a name. Swift compares strings by canonical equivalence, so the Unicode form may stay.
    private static func form(_ name: RawText) -> String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
    }
}
