import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// A task with a path: finds the entries to remove and walks over them.
struct PathCleaning {
    typealias Failure = CleaningOutcome.Failure

    let path: CleaningPath
    let patterns: [EntryPattern]?
    /// The names, below the path, of folders that stay.
    private let exceptions: [[[UInt8]]]

    init(_ task: CleaningTask) throws(Failure) {
        guard case .remove(let text, let entries, let except) = task else { throw Failure(reason: "it has no path") }
        exceptions = except.map { $0.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) } }
        do throws(CleaningRefusal) {
            path = try CleaningPath(text, reserved: ControlFile.directory)
            if path.names.isEmpty, entries == nil { throw .everything }
        } catch { throw Failure(error, "Path") }
        var patterns: [EntryPattern] = []
        for entry in entries ?? [] {
            do throws(CleaningRefusal) { patterns.append(try EntryPattern(entry)) } catch {
                throw Failure(error, "the entry '\(VisibleText.of(entry))'")
            }
        }
        self.patterns = entries == nil ? nil : patterns
    }

    /// The start of the walk.
    enum Start {
        case missing
        /// A folder that stays, and the selection of entries in it to remove.
        case folder(any CleanableFolder, EntrySelection)
        /// An entry that is removed as a whole.
        case entry(CleanableEntry, in: any CleanableFolder)
    }

    /// Descends from the container to the start of the walk, through folders only.
    func start(in container: any CleanableFolder) throws(Failure) -> Start {
        var folder = container
        var above: [RawText] = []
        for name in path.names.dropLast() {
            let raw = Self.raw(name)
            above.append(raw)
            guard let next = try descend(from: folder, to: raw, above) else { return .missing }
            folder = next
        }
        guard let last = path.names.last.map(Self.raw) else {
            return .folder(folder, EntrySelection(patterns ?? [], except: exceptions))
        }
        let entry: CleanableEntry
        do throws(Errno) { entry = try folder.entry(last) } catch .noEntry { return .missing } catch {
            throw Failure(error, at: above + [last])
        }
        if entry.kind == .link { throw .link(Self.text(above + [last])) }
        guard patterns != nil || path.isOfTheLayout else { return .entry(entry, in: folder) }
        guard entry.kind == .folder, let inner = try descend(from: folder, to: last, above + [last]) else {
            if entry.kind == .folder { return .missing }
            throw Failure(reason: "it is a file, so it has no entries", advice: "Leave out Entries to remove it.")
        }
        return .folder(inner, EntrySelection(patterns ?? [.all], except: exceptions))
    }

    /// Returns nil if the folder does not exist.
    private func descend(
        from folder: any CleanableFolder, to name: RawText, _ path: [RawText]
    ) throws(Failure) -> (any CleanableFolder)? {
        do throws(Errno) {
            return try folder.folder(name)
        } catch .noEntry {
            return nil
        } catch let error where error == Errno(ELOOP) || error == .notDirectory {
            throw isLink(name, in: folder)
                ? .link(Self.text(path))
                : Failure(reason: "\(Self.text(path)) is not a folder", advice: "Check the path.")
        } catch { throw Failure(error, at: path) }
    }

    /// Returns true if a name is a symbolic link. Without openat2(2), opening a link fails with ENOTDIR, like opening a file.
    private func isLink(_ name: RawText, in folder: any CleanableFolder) -> Bool {
        do throws(Errno) { return try folder.entry(name).kind == .link } catch { return false }
    }

    private static func raw(_ name: [UInt8]) -> RawText { name.map { CChar(bitPattern: $0) } + [0] }

    /// Returns the path of a step's entry, from the container.
    func path(of step: CleaningWalk.Step, from start: Start) -> [RawText] {
        place(of: start).map(Self.raw) + step.path
    }

    /// Returns the names of the folder in which the walk begins.
    private func place(of start: Start) -> [[UInt8]] {
        if case .entry = start { path.names.dropLast() } else { path.names }
    }

    static func plainText(_ path: [RawText]) -> String { path.map(Places.text).joined(separator: "/") }

    static func text(_ path: [RawText]) -> String { VisibleText.of(plainText(path)) }
}

extension PathCleaning {
    /// Visits the entries to remove, and returns the faults.
    func walk(
        _ start: Start, _ visit: @escaping (CleaningWalk.Step) throws(Errno) -> Bool
    ) throws(Failure) -> CleaningWalk.Faults {
        let place = place(of: start)
        switch start {
        case .missing: return CleaningWalk.Faults()
        case .folder(let folder, let selection):
            do throws(Errno) { return try CleaningWalk.walk(folder, at: place, selection, visit) } catch {
                throw Failure(error, at: [])
            }
        case .entry(let entry, let folder): return CleaningWalk.walk(entry, in: folder, at: place, visit)
        }
    }
}

extension CleaningOutcome.Failure {
    init(_ error: Errno, at path: [RawText]) {
        let place = path.isEmpty ? "" : PathCleaning.text(path) + ": "
        self.init(reason: place + Self.words(error), advice: Self.advice(error))
    }

    /// Creates a failure from the first fault and the number of others; nil without faults.
    init?(_ faults: CleaningWalk.Faults) {
        guard let first = faults.first else { return nil }
        self.init(first.error, at: first.path)
        if faults.count > 1 { reason += ", and \(faults.count - 1) more" }
    }

    private static func words(_ error: Errno) -> String {
        error == Errno(EXDEV) || error == .busy ? "another file system is mounted there" : "\(error)"
    }

    private static func advice(_ error: Errno) -> String {
        switch error {
        case .accessDenied, .notPermitted:
            geteuid() == 0
                ? AccessAdvice.rootToo
                : "Make its folder accessible (chmod u+rwx), or run this as its owner or as root."
        case .readOnly: "It is mounted read-only: mount it without -o ro."
        case .tooManyOpenFiles: "Folders are nested too deeply: raise the limit of open files (ulimit -n)."
        case .notEmpty: "A program creates files there: end it, or try again."
        case .socketNotConnected: "Its daemon has ended. Remove the mount (purgefs unmount), and mount the store again."
        default: ""
        }
    }
}
