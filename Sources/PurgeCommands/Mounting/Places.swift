import Glibc
import PurgeSystem

/// Questions about paths whose answer may be "not there".
enum Places {
    /// Absolute, without symbolic links; nil if there is nothing.
    static func resolved(_ path: String) -> String? {
        do throws(Errno) { return try System.resolved(path) } catch { return nil }
    }

    /// The same for something that does not exist yet, or whose last component cannot be examined.
    static func resolvedOrParent(_ path: String) -> String? {
        do throws(Errno) { return try System.resolvedOrParent(path) } catch { return nil }
    }

    static func isLink(_ path: String) -> Bool {
        do throws(Errno) {
            return try System.status(at: AT_FDCWD, path).st_mode & S_IFMT == S_IFLNK
        } catch { return false }
    }

    /// Whether a mount whose daemon has ended is there.
    static func isDead(_ path: String) -> Bool {
        do throws(Errno) {
            // Attributes may be cached; this is not.
            let directory = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
            _ = try System.fileSystemStatus(directory.raw)
            return false
        } catch { return error == .socketNotConnected }
    }

    /// Whether two paths lead to one file, which need not exist.
    static func areSame(_ a: String, _ b: String) -> Bool {
        do throws(Errno) {
            if try System.resolvedOrParent(a) == System.resolvedOrParent(b) { return true }
            let (one, other) = (try System.status(ofPath: a), try System.status(ofPath: b))
            return one.st_dev == other.st_dev && one.st_ino == other.st_ino
        } catch { return false }
    }

    /// An executable of that name in PATH.
    static func program(_ name: String) -> String? { inPath(name, X_OK) }

    /// Whether PATH has something of that name.
    static func isInPath(_ name: String) -> Bool { inPath(name, F_OK) != nil }

    private static func inPath(_ name: String, _ access: Int32) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { candidate in
            do throws(Errno) {
                try System.checkAccess(candidate, access)
                return true
            } catch { return false }
        }
    }

    static func isDirectory(_ path: String) -> Bool {
        do throws(Errno) {
            return try System.status(ofPath: path).st_mode & S_IFMT == S_IFDIR
        } catch { return false }
    }

    /// The running binary, which is this very program even if PATH has another.
    static func ownBinary() -> String {
        let link = "/proc/self/exe"
        guard let path = resolved(link) else { return link }
        do throws(Errno) {
            try System.checkAccess(path, X_OK)
            return path
        } catch { return link }  // replaced since it was started
    }

    /// Mounts, processes and this program's own file are found in /proc.
    static func requireProc(_ what: String) throws(CommandFailure) {
        let table = "/proc/self/mountinfo"
        do throws(Errno) {
            _ = try FileDescriptor.open(table, O_RDONLY)
        } catch .noEntry {
            throw CommandFailure(
                what, path: table, Errno.noEntry, advice: "As root, mount /proc first: mount -t proc proc /proc")
        } catch {}  // the code that needs it reports the error
    }

    /// For messages: bytes that are not UTF-8 become U+FFFD.
    static func text(_ raw: RawText) -> String {
        String(decoding: raw.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func hasLine(_ line: String, in file: String) -> Bool {
        do throws(Errno) {
            let text = String(decoding: try FileDescriptor.open(file, O_RDONLY).readToEnd(), as: UTF8.self)
            return text.split(separator: "\n").contains { $0.trimmed == line }
        } catch { return false }
    }
}

extension Substring {
    /// Without blanks at both ends.
    var trimmed: Substring {
        var rest = self
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
