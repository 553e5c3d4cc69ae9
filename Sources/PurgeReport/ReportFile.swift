import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

/// The file that a report is written to, or `-`: standard output. Under its name there is either what was there before or
/// the whole report, whatever happens meanwhile.
package struct ReportFile {
    /// As it was given.
    let path: String
    /// What is written, in messages.
    let kind: String
    /// Where the file was to be when it was named. Only root cares: somebody else may put a link there meanwhile.
    private let folder: Result<String, Errno>?

    package init(path: String, kind: String = "report") {
        (self.path, self.kind) = (path, kind)
        folder =
            System.isRoot
            ? Result { () throws(Errno) in try FileDescriptor.openTrusted(path.parentPath).path } : nil
    }

    private var what: String { "cannot write the \(kind)" }
    private var isStandardOutput: Bool { path == "-" }

    /// Checks what can be known before the report is made. `store` is that of a run, which need not exist yet.
    package func check(store: String? = nil) throws(CommandFailure) {
        if isStandardOutput { return }
        guard let name = path.pathNames.last, name != ".", name != "..", path.utf8.last != UInt8(ascii: "/") else {
            throw isDirectory
        }
        try PlaceChecks(Surroundings(mounts: MountEntry.all())).check(report: path, of: store, what)
        do throws(Errno) {
            guard try System.status(ofPath: path.parentPath).isDirectoryFile else { throw .notDirectory }
            try System.checkAccess(path.parentPath, W_OK | X_OK)
            _ = try folder?.get()
        } catch .noEntry {
            throw CommandFailure(
                what, path: path, "there is no directory \(path.parentPath)",
                advice: "Make it: mkdir -p \(path.parentPath)")
        } catch { throw failure(error) }
        let status: FileStatus
        do throws(Errno) {
            status = try System.status(at: AT_FDCWD, path)
        } catch .noEntry { return } catch { throw failure(error) }
        try refuse(status)
    }

    /// Only a plain file is replaced.
    private func refuse(_ status: FileStatus) throws(CommandFailure) {
        switch status.kind {
        case S_IFREG: return
        case S_IFDIR: throw isDirectory
        case S_IFLNK:
            throw CommandFailure(
                what, path: path, "it is a symbolic link, which the \(kind) would replace",
                advice: "Name the file that it leads to, or another.")
        default:
            throw CommandFailure(
                what, path: path, "it is not a plain file", advice: "Name a new file, or one that may be replaced."
            )
        }
    }

    private var isDirectory: CommandFailure {
        var folder = path
        while folder.utf8.last == UInt8(ascii: "/") { folder.removeLast() }
        return CommandFailure(
            what, path: path, "it is the name of a directory, and the \(kind) is a file",
            advice: "Name a file in it: \(VisibleText.of(folder))/\(kind == "report" ? "report.html" : "summary.json")")
    }

    package func write(_ content: ReportContent) throws(CommandFailure) { try write(ReportPage(content: content).text) }

    /// Written beside it and then given its name.
    package func write(_ text: String) throws(CommandFailure) {
        guard !isStandardOutput else { return try print(text) }
        let name = path.pathNames.last ?? path
        let working = ".purgefs-report.\(getpid())"
        let folder: FileDescriptor
        do throws(Errno) {
            folder = try openFolder()
        } catch { throw failure(error) }
        do throws(Errno) {
            do throws(Errno) { try System.unlink(at: folder.raw, working) } catch .noEntry {}
            let mode = try Self.mode(of: name, in: folder)
            let file = try folder.open(working, O_WRONLY | O_CREAT | O_EXCL, mode: mode == nil ? 0o644 : 0o600)
            if let mode { try System.changeMode(file.raw, mode) }
            try file.writeAll(Array(text.utf8))
            // What has the name after a crash of the machine is complete too.
            try System.sync(file.raw)
            try System.rename(at: folder.raw, working, to: folder.raw, name)
        } catch {
            do throws(Errno) { try System.unlink(at: folder.raw, working) } catch {}
            throw failure(error)
        }
    }

    private func print(_ text: String) throws(CommandFailure) {
        let console = Console.standard()
        try console.write(text)
        try console.flush()
    }

    private func openFolder() throws(Errno) -> FileDescriptor {
        guard let folder else { return try FileDescriptor.open(path.parentPath, O_RDONLY | O_DIRECTORY) }
        return try FileDescriptor.openWithoutLinks(folder.get().utf8).open(".", O_RDONLY | O_DIRECTORY)
    }

    /// That of the file that is replaced, which others may be kept from reading; nil if there is none.
    private static func mode(of name: String, in folder: FileDescriptor) throws(Errno) -> mode_t? {
        do throws(Errno) {
            let status = try System.status(at: folder.raw, name)
            return status.isRegularFile ? status.st_mode & 0o777 : nil
        } catch .noEntry { return nil }
    }

    private func failure(_ error: Errno) -> CommandFailure { CommandFailure(what, output: path, error) }
}
