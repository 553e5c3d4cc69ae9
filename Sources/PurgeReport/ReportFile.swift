import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

/// The output file of a report; `-` is standard output. At every moment the name holds either the old file or the complete
/// report.
package struct ReportFile {
    /// The path as given on the command line.
    let path: String
    /// The noun for the file's content in messages.
    let kind: String
    /// The folder, resolved when `init` ran; nil unless the process is root. Another user may replace the folder by a link
    /// later, and root must not follow that link.
    private let folder: Result<String, Errno>?

    package init(path: String, kind: String = "report") {
        (self.path, self.kind) = (path, kind)
        folder =
            System.isRoot
            ? Result { () throws(Errno) in try FileDescriptor.openTrusted(path.parentPath).path } : nil
    }

    private var what: String { "cannot write the \(kind)" }
    private var isStandardOutput: Bool { path == "-" }

    /// Checks everything that can be checked before the report is created. `store` is the store of a run, which need not exist
    /// yet.
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
                advice: "Make it: mkdir -p \(ShellWord.of(path.parentPath))")
        } catch { throw failure(error) }
        let status: FileStatus
        do throws(Errno) {
            status = try System.status(at: AT_FDCWD, path)
        } catch .noEntry { return } catch { throw failure(error) }
        try refuse(status)
    }

    /// Refuses to replace anything but a plain file.
    private func refuse(_ status: FileStatus) throws(CommandFailure) {
        switch status.kind {
        case S_IFREG: return
        case S_IFDIR: throw isDirectory
        case S_IFLNK:
            throw CommandFailure(
                what, path: path, "it is a symbolic link, which the \(kind) would replace",
                advice: "Name its target, or another file.")
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
            what, path: path, "it is a directory, and the \(kind) is a file",
            advice: "Name a file in it: \(VisibleText.of(folder))/\(kind == "report" ? "report.html" : "summary.json")")
    }

    package func write(_ content: ReportContent) throws(CommandFailure) { try write(ReportPage(content: content).text) }

    /// Writes a temporary file in the same folder, and renames it over the old file.
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
            // Without this, a crash of the machine could leave an incomplete file under the name.
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

    /// Returns the mode of the file that will be replaced; nil if there is no regular file of this name. The report gets the
    /// same mode, so that a private one stays private.
    private static func mode(of name: String, in folder: FileDescriptor) throws(Errno) -> mode_t? {
        do throws(Errno) {
            let status = try System.status(at: folder.raw, name)
            return status.isRegularFile ? status.st_mode & 0o777 : nil
        } catch .noEntry { return nil }
    }

    private func failure(_ error: Errno) -> CommandFailure { CommandFailure(what, output: path, error) }
}
