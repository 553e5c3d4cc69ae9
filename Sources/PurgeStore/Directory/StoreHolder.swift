import Glibc
import PurgeSystem

/// The process that holds the lock of a store, as far as /proc shows it.
enum StoreHolder {
    struct Process: Hashable {
        var pid: Int32
        /// Whether the process shares the lock with others that only copy the store.
        var isCopying: Bool
    }

    /// Returns the process that holds the lock according to /proc/locks. Returns nil if the holder is gone or in another PID
    /// namespace, if that file shows another device number for the file system, or if it cannot be read.
    static func process(of directory: FileDescriptor) -> Process? {
        do {
            let status = try System.status(directory.raw)
            let table = try FileDescriptor.open("/proc/locks", O_RDONLY).readToEnd()
            return process(device: status.st_dev, inode: status.st_ino, in: String(decoding: table, as: UTF8.self)) {
                FileDescriptor.exists("/proc/\($0)")
            }
        } catch {
            return nil  // the message then says "another process"
        }
    }

    /// Whether a process is a daemon whose mount of the store is over: either it says so (`EndingMark`), or it has /dev/fuse
    /// open and the mount is gone. The latter also holds for a daemon between opening /dev/fuse and mount(2). Returns false
    /// if /proc does not show the process's descriptors and mounts.
    static func isEndingDaemon(_ pid: Int32, of store: String) -> Bool {
        do throws(Errno) {
            let directory = "/proc/\(pid)/fd"
            let targets = try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY).entryNames().map { name in
                do throws(Errno) {
                    let target = try System.readLink(at: AT_FDCWD, "\(directory)/\(name)")
                    return String(decoding: target.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                } catch { return "" }
            }
            if targets.contains("/memfd:\(EndingMark.name) (deleted)") { return true }
            let table = try FileDescriptor.open("/proc/\(pid)/mountinfo", O_RDONLY).readToEnd()
            let source = " - fuse.purgefs \(escaped(store)) "
            return targets.contains("/dev/fuse") && !String(decoding: table, as: UTF8.self).contains(source)
        } catch { return false }
    }

    /// Returns a path as proc(5) shows it, with white space, backslashes and `#` in octal.
    private static func escaped(_ path: String) -> String {
        var text = path.replacing("\\", with: "\\134")
        for (character, code) in [(" ", "\\040"), ("\t", "\\011"), ("\n", "\\012"), ("#", "\\043")] {
            text = text.replacing(character, with: code)
        }
        return text
    }

    /// Finds the holder in the text of /proc/locks. A line is `1: FLOCK ADVISORY WRITE 4242 fe:00:1234567 0 EOF`, with the
    /// device in hex, and READ for a shared lock. Skips a process for which `isThere` returns false.
    static func process(
        device: dev_t, inode: ino_t, in table: String, where isThere: (Int32) -> Bool = { _ in true }
    ) -> Process? {
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE" || words[3] == "READ",
                let pid = Int32(words[4]), pid > 0, isThere(pid)
            else { continue }
            let id = words[5].split(separator: ":")
            guard id.count == 3 else { continue }
            if UInt(id[0], radix: 16) == major && UInt(id[1], radix: 16) == minor && UInt(id[2]) == inode {
                return Process(pid: pid, isCopying: words[3] == "READ")
            }
        }
        return nil
    }
}
