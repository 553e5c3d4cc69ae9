import Glibc

/// Queries about paths for which "not there" is a valid answer.
package enum Places {
    /// Returns the absolute path without symbolic links, or nil if the path cannot be resolved.
    package static func resolved(_ path: String) -> String? {
        do throws(Errno) { return try System.resolved(path) } catch { return nil }
    }

    /// Resolves a path whose last component may not exist yet, or cannot be examined.
    package static func resolvedOrParent(_ path: String) -> String? {
        do throws(Errno) { return try System.resolvedOrParent(path) } catch { return nil }
    }

    package static func isLink(_ path: String) -> Bool {
        do throws(Errno) {
            return try System.status(at: AT_FDCWD, path).isLink
        } catch { return false }
    }

    /// Returns whether the path leads into a mount that has lost its daemon.
    package static func isDead(_ path: String) -> Bool {
        do throws(Errno) {
            // Attributes may be cached; the answer to statvfs(3) is not.
            let directory = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
            _ = try System.fileSystemStatus(directory.raw)
            return false
        } catch { return error == .socketNotConnected }
    }

    /// Returns whether two paths lead to the same file, which need not exist.
    package static func areSame(_ a: String, _ b: String) -> Bool {
        do throws(Errno) {
            if try System.resolvedOrCreated(a) == System.resolvedOrCreated(b) { return true }
            let (one, other) = (try System.status(ofPath: a), try System.status(ofPath: b))
            return one.st_dev == other.st_dev && one.st_ino == other.st_ino
        } catch { return false }
    }

    /// Returns the executable with this name in PATH.
    package static func program(_ name: String) -> String? { inPath(name, X_OK) }

    /// Returns whether PATH has a file with this name, executable or not.
    package static func isInPath(_ name: String) -> Bool { inPath(name, F_OK) != nil }

    private static func inPath(_ name: String, _ access: Int32) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { candidate in
            do throws(Errno) {
                try System.checkAccess(candidate, access)
                return true
            } catch { return false }
        }
    }

    package static func isDirectory(_ path: String) -> Bool {
        do throws(Errno) {
            return try System.status(ofPath: path).isDirectoryFile
        } catch { return false }
    }

    /// Returns the path of the running binary, even if PATH has another one; /proc/self/exe if the binary was replaced or
    /// removed.
    package static func ownBinary() -> String {
        let link = "/proc/self/exe"
        guard let path = resolved(link) else { return link }
        do throws(Errno) {
            try System.checkAccess(path, X_OK)
            return path
        } catch { return link }  // the binary was replaced
    }

    /// Returns text for messages; bytes that are not UTF-8 become U+FFFD.
    package static func text(_ raw: RawText) -> String {
        String(decoding: raw.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package static func hasLine(_ line: String, in file: String) -> Bool {
        do throws(Errno) {
            let text = String(decoding: try FileDescriptor.open(file, O_RDONLY).readToEnd(), as: UTF8.self)
            return text.split(separator: "\n").contains { $0.trimmed == line }
        } catch { return false }
    }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs.
    package var trimmed: Substring {
        var rest = self
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
