import Foundation
import Glibc
import PurgeSystem

/// Plain calls on paths. Failures throw the errno.
public enum Files {
    static func check(_ result: Int32) throws(Errno) { if result != 0 { throw Errno(errno) } }

    public static func status(_ path: String) throws(Errno) -> FileStatus {
        var out = FileStatus()
        try check(lstat(path, &out))
        return out
    }
    public static func exists(_ path: String) -> Bool { (try? status(path)) != nil }
    public static func size(_ path: String) throws(Errno) -> Int64 { Int64(try status(path).st_size) }
    /// Returns st_blocks x 512.
    public static func charged(_ path: String) throws(Errno) -> Int64 { Int64(try status(path).st_blocks) * 512 }

    public static func unlink(_ path: String) throws(Errno) { try check(Glibc.unlink(path)) }
    public static func makeDirectory(_ path: String, mode: mode_t = 0o755) throws(Errno) {
        try check(mkdir(path, mode))
    }
    public static func removeDirectory(_ path: String) throws(Errno) { try check(rmdir(path)) }
    public static func rename(_ from: String, _ to: String) throws(Errno) { try check(Glibc.rename(from, to)) }
    public static func rename(_ from: String, _ to: String, flags: UInt32) throws(Errno) {
        try System.rename(at: AT_FDCWD, from, to: AT_FDCWD, to, flags: flags)
    }
    public static func link(_ from: String, _ to: String) throws(Errno) { try check(Glibc.link(from, to)) }
    public static func symlink(_ target: String, _ path: String) throws(Errno) {
        try check(Glibc.symlink(target, path))
    }
    public static func truncate(_ path: String, _ size: Int64) throws(Errno) {
        try check(Glibc.truncate(path, off_t(size)))
    }
    public static func changeMode(_ path: String, _ mode: mode_t) throws(Errno) { try check(chmod(path, mode)) }

    /// Sets the modification time with utimensat(2); keeps the access time.
    public static func setModificationTime(_ path: String, secondsAgo seconds: Int) throws(Errno) {
        var times = [timespec(), timespec()]
        clock_gettime(CLOCK_REALTIME, &times[1])
        times[1].tv_sec -= seconds
        times[0].tv_nsec = System.timeOmit
        try check(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW))
    }
    public static func fileSystemStatus(_ path: String) throws(Errno) -> statvfs {
        var out = statvfs()
        try check(statvfs(path, &out))
        return out
    }

    /// Returns f_type of statfs(2), or 0.
    public static func fileSystemType(_ path: String) -> Int64 {
        guard let place = try? FileDescriptor.open(path, O_RDONLY) else { return 0 }
        return (try? System.fileSystemType(place.raw)) ?? 0
    }

    /// Returns the names in a directory except . and .., sorted.
    public static func names(in directory: String) throws(Errno) -> [String] {
        guard let stream = opendir(directory) else { throw Errno(errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the paths below a directory, relative to it, with folders before their content.
    public static func tree(_ root: String) throws(Errno) -> [String] {
        var found: [String] = []
        var open = [""]
        while let folder = open.popLast() {
            for name in try names(in: folder.isEmpty ? root : "\(root)/\(folder)") {
                let path = folder.isEmpty ? name : "\(folder)/\(name)"
                found.append(path)
                if try status("\(root)/\(path)").st_mode & S_IFMT == S_IFDIR { open.append(path) }
            }
        }
        return found
    }

    /// Returns the sum of st_blocks x 512 over all entries below, each inode once.
    public static func chargedTree(_ root: String) throws(Errno) -> Int64 {
        var seen: Set<UInt64> = []
        var sum: Int64 = 0
        for path in try tree(root) {
            let status = try status("\(root)/\(path)")
            if seen.insert(UInt64(status.st_ino)).inserted { sum += Int64(status.st_blocks) * 512 }
        }
        return sum
    }

    public static func content(_ path: String) throws(Errno) -> [UInt8] {
        try FileDescriptor.open(path, O_RDONLY).readAll()
    }
    /// Returns the text of a file; empty if it cannot be read.
    public static func text(_ path: String) -> String {
        String(decoding: (try? content(path)) ?? [], as: UTF8.self)
    }
    /// Returns the arguments of a process's command line, separated by spaces; empty if there is no such process.
    public static func commandLine(of pid: String) -> String {
        text("/proc/\(pid)/cmdline").split(separator: "\0").joined(separator: " ")
    }
    /// Returns the paths of the files that a process has open. Skips descriptors that it closes meanwhile.
    public static func open(in pid: String) -> [String] {
        let descriptors = (try? names(in: "/proc/\(pid)/fd")) ?? []
        return descriptors.compactMap { descriptor in
            guard let target = try? System.readLink(at: AT_FDCWD, "/proc/\(pid)/fd/\(descriptor)") else { return nil }
            return String(decoding: target.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
    /// Creates a file, or replaces its content.
    public static func write(_ text: String, to path: String) throws(Errno) {
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC)
        try file.writeAll(Array(text.utf8))
    }
    /// Creates a file of `size` bytes other than zero.
    public static func make(_ path: String, size: Int) throws(Errno) {
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC)
        try file.fill(size)
    }
}
