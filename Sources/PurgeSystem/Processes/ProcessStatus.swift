import Glibc

/// A process as /proc/PID/stat describes it (proc_pid_stat(5)).
package struct ProcessStatus: Hashable, Sendable {
    package var pid: pid_t
    package var parent: pid_t
    /// The letter of the state: `T` for stopped, `Z` for ended and not waited for.
    package var state: Character
    /// When the process began, in ticks since the boot of the host. With the pid, it identifies the process.
    package var begin: UInt64

    /// The effective user; nil if the process has ended. The owner of /proc/PID is another one, root, if the process may not be
    /// inspected (PR_SET_DUMPABLE).
    package var owner: uid_t? {
        do throws(Errno) {
            let text = String(
                decoding: try FileDescriptor.open("/proc/\(pid)/status", O_RDONLY).readToEnd(), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("Uid:") }
            return line?.split(separator: "\t").dropFirst(2).first.flatMap { uid_t($0) }
        } catch { return nil }
    }
    package var hasEnded: Bool { state == "Z" || state == "X" }
    package var isStopped: Bool { state == "T" || state == "t" }

    /// Reads the status of a process; nil if there is no such process.
    package init?(of pid: pid_t) {
        do throws(Errno) {
            let file = try FileDescriptor.open("/proc/\(pid)/stat", O_RDONLY)
            let text = String(decoding: try file.readToEnd(), as: UTF8.self)
            // The name of the program, in parentheses, may contain spaces and parentheses.
            guard let end = text.lastIndex(of: ")") else { return nil }
            let fields = text[end...].split(separator: " ")
            guard fields.count > 20, let state = fields[1].first, let parent = pid_t(fields[2]),
                let begin = UInt64(fields[20])
            else { return nil }
            (self.pid, self.state, self.parent, self.begin) = (pid, state, parent, begin)
        } catch { return nil }
    }

    /// Returns the process and its descendants, parents first, without `other` and those that descend from it. A process whose
    /// parent has ended is no descendant any more.
    package static func tree(of root: ProcessStatus, without other: pid_t? = nil) -> [ProcessStatus] {
        trees(of: [root], without: other)
    }

    /// Returns several processes and their descendants, each once.
    package static func trees(of roots: [ProcessStatus], without other: pid_t? = nil) -> [ProcessStatus] {
        let pids = Set(roots.map(\.pid))
        var children: [pid_t: [ProcessStatus]] = [:]
        for pid in System.processes() where pid != other && !pids.contains(pid) {
            if let process = ProcessStatus(of: pid) { children[process.parent, default: []].append(process) }
        }
        var tree = roots
        var next = 0
        while next < tree.count {
            tree += children.removeValue(forKey: tree[next].pid) ?? []
            next += 1
        }
        return tree
    }
}

extension System {
    /// Whether /proc shows the processes by the pids that this process uses. In a PID namespace, it may be that of another one.
    package static var seesOwnProcesses: Bool {
        do throws(Errno) {
            return try readLink(at: AT_FDCWD, "/proc/self").map { UInt8(bitPattern: $0) } == Array("\(getpid())".utf8)
        } catch { return false }
    }

    /// Returns the pids of all processes that /proc shows.
    package static func processes() -> [pid_t] { numbers(in: "/proc") }

    /// Whether the environment with which a process began has this entry, `NAME=VALUE`. False if it may not be read.
    package static func environment(of pid: pid_t, has entry: String) -> Bool {
        do throws(Errno) {
            let bytes = try FileDescriptor.open("/proc/\(pid)/environ", O_RDONLY).readToEnd()
            return bytes.split(separator: 0).contains { $0.elementsEqual(entry.utf8) }
        } catch { return false }
    }

    fileprivate static func numbers(in directory: String) -> [Int32] {
        do throws(Errno) {
            return try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY).names().compactMap {
                Int32(Places.text($0))
            }
        } catch { return [] }
    }
}

/// A lock that a process holds on a file (flock(2), fcntl(2)).
package struct FileLock: Hashable, Sendable {
    /// `FLOCK`, `POSIX` or `OFDLCK`.
    package var kind: String
    package var isExclusive: Bool
    /// The device of the file system, such as `0:45`.
    package var device: String
    /// The path of the file, as the process's link in /proc shows it.
    package var path: String

    /// Returns the locks of a process.
    package static func all(of pid: pid_t) -> [FileLock] {
        System.numbers(in: "/proc/\(pid)/fdinfo").flatMap { descriptor -> [FileLock] in
            do throws(Errno) {
                let info = try FileDescriptor.open("/proc/\(pid)/fdinfo/\(descriptor)", O_RDONLY).readToEnd()
                let lines = String(decoding: info, as: UTF8.self).split(separator: "\n")
                guard lines.contains(where: { $0.hasPrefix("lock:") }) else { return [] }
                let path = try System.readLink(at: AT_FDCWD, "/proc/\(pid)/fd/\(descriptor)")
                let name = String(decoding: path.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return lines.compactMap { FileLock(line: $0, path: name) }
            } catch { return [] }
        }
    }

    /// Parses a line such as `lock:\t1: POSIX  ADVISORY  WRITE 17 00:2d:1234 0 EOF`; nil for a lease and for other lines.
    package init?(line: Substring, path: String) {
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count > 6, words[0] == "lock:", ["FLOCK", "POSIX", "OFDLCK"].contains(words[2]) else { return nil }
        let numbers = words[6].split(separator: ":").prefix(2).compactMap { Int($0, radix: 16) }
        guard numbers.count == 2 else { return nil }
        (kind, isExclusive, self.path) = (String(words[2]), words[4] == "WRITE", path)
        device = "\(numbers[0]):\(numbers[1])"
    }
}
