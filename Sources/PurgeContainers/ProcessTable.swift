import Glibc
import PurgeCommandLine
import PurgeSystem

/// A process that keeps a directory, or something in it, in use.
package struct FileUser: Hashable, Encodable, Sendable {
    package var pid: pid_t
    /// The command line, as /proc shows it.
    package var command: String
    /// `its working directory`, `open`, `mapped`, ...
    package var manner: String
    package var path: String

    /// `process 17 (vim notes.txt)`
    package var name: String { "process \(pid) (\(ProcessTable.shown(command)))" }
}

/// The processes that /proc shows. It shows little about processes of other users.
package enum ProcessTable {
    /// Returns the other processes that use `directory` or something below it, with one entry for each process.
    package static func users(of directory: String) -> [FileUser] {
        pids().compactMap { pid in
            use(by: pid) { $0.isPath(directory) || $0.isPath(below: directory) || $0.isPath(directory + " (deleted)") }
        }
    }

    /// Returns the processes, this one included, that have any of these files open or mapped, by path.
    package static func users(ofFiles files: Set<[UInt8]>) -> [[UInt8]: [FileUser]] {
        var users: [[UInt8]: [FileUser]] = [:]
        for pid in pids() {
            let program = link("/proc/\(pid)/exe").map { [(manner: "its program", path: $0)] } ?? []
            var seen: Set<[UInt8]> = []
            for (manner, path) in program + descriptors(of: pid) + maps(of: pid) {
                let bytes = Array(path.utf8)
                guard files.contains(bytes), seen.insert(bytes).inserted else { continue }
                users[bytes, default: []].append(
                    FileUser(pid: pid, command: command(of: pid), manner: manner, path: path))
            }
        }
        return users
    }

    /// Whether everything that other processes use at or below `directory` is below `below`.
    package static func isUsedOnly(below: String, of directory: String) -> Bool {
        pids().allSatisfy { pid in
            use(by: pid) { path in
                path.isPath(below: directory) && !path.isPath(below: below) || path.isPath(directory)
            } == nil
        }
    }

    /// Returns the daemons that have the store's directory itself open, as the holder of its lock does, even if it was removed.
    package static func daemons(of store: String) -> [pid_t] {
        daemons { pid in
            descriptors(of: pid).contains { $0.path.isPath(store) || $0.path.isPath(store + " (deleted)") }
        }
    }

    /// Returns the daemons of a mounted store. If the store has been moved since the mount, they are found by its container,
    /// which they have open.
    package static func daemons(of store: MountedStore) -> [pid_t] {
        let found = store.isReplaced ? [] : daemons(of: store.path)
        guard found.isEmpty, let container = store.container else { return found }
        return daemons { pid in
            entries("/proc/\(pid)/fd").contains { MountedStore.Identity(of: "/proc/\(pid)/fd/\($0)") == container }
        }
    }

    private static func daemons(where isMeant: (pid_t) -> Bool) -> [pid_t] {
        pids().filter { pid in
            pid != getpid() && mayMount(pid) && Set(["mount", "--foreground"]).isSubset(of: words(of: pid))
                && isMeant(pid)
        }
    }

    /// Whether the beginning of the command line contains `mount`. This quick test avoids splitting long command lines of other
    /// processes.
    private static func mayMount(_ pid: pid_t) -> Bool {
        do throws(Errno) {
            let line = try FileDescriptor.open("/proc/\(pid)/cmdline", O_RDONLY).readSome(4 * Int(PATH_MAX))
            return line.withUnsafeBytes { line in
                line.indices.contains { line[$0...].starts(with: "mount".utf8) }
            }
        } catch { return false }
    }

    /// Returns one process of each mount namespace that is not ours and that this user may see.
    package static func otherMountNamespaces() -> [pid_t] {
        guard let own = link("/proc/self/ns/mnt") else { return [] }
        var seen: Set<String> = [own]
        return pids().sorted().filter { pid in link(mountNamespace(of: pid)).map { seen.insert($0).inserted } ?? false }
    }

    package static func isInOurMountNamespace(_ pid: pid_t) -> Bool {
        link(mountNamespace(of: pid)).map { $0 == link("/proc/self/ns/mnt") } ?? false
    }

    private static func mountNamespace(of pid: pid_t) -> String { "/proc/\(pid)/ns/mnt" }

    /// Whether a process exists and has not ended; a zombie has ended.
    package static func isRunning(_ pid: pid_t) -> Bool {
        guard let state = status(of: pid)?.state else { return false }
        return state != "Z" && state != "X"
    }

    /// Returns the letter of a process's state and the time it has used, in ticks of the kernel (proc_pid_stat(5)); nil if
    /// there is no such process.
    package static func status(of pid: pid_t) -> (state: Substring, usedTime: Int64)? {
        guard let stat = content("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[end...].split(separator: " ").dropFirst()
        guard fields.count > 12, let state = fields.first else { return nil }
        return (state, fields.dropFirst(11).prefix(2).reduce(0) { $0 + (Int64($1) ?? 0) })
    }

    private static func use(by pid: pid_t, _ isMeant: (String) -> Bool) -> FileUser? {
        guard pid != getpid() else { return nil }
        let uses = [("its working directory", "cwd"), ("its root", "root"), ("its program", "exe")].compactMap { use in
            link("/proc/\(pid)/\(use.1)").map { (manner: use.0, path: $0) }
        }
        let found = (uses + descriptors(of: pid) + maps(of: pid)).first { isMeant($0.path) }
        return found.map { FileUser(pid: pid, command: command(of: pid), manner: $0.manner, path: $0.path) }
    }

    private static func descriptors(of pid: pid_t) -> [(manner: String, path: String)] {
        entries("/proc/\(pid)/fd").compactMap { name in
            link("/proc/\(pid)/fd/\(name)").map { ("open", $0) }
        }
    }

    /// Reopens, for reading, a file that a process has open. The file is found by the target of its link in /proc.
    package static func openFile(of pid: pid_t, as target: String) -> FileDescriptor? {
        let path = entries("/proc/\(pid)/fd").map { "/proc/\(pid)/fd/\($0)" }.first { link($0) == target }
        guard let path else { return nil }
        do throws(Errno) { return try FileDescriptor.open(path, O_RDONLY) } catch { return nil }
    }

    /// Returns the mapped files. A line is `7f..-7f.. rw-s 00000000 00:30 1234 /path`.
    private static func maps(of pid: pid_t) -> [(manner: String, path: String)] {
        (content("/proc/\(pid)/maps") ?? "").split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { ("mapped", String(line[$0...])) }
        }
    }

    package static func command(of pid: pid_t) -> String { words(of: pid).joined(separator: " ") }

    /// Returns a command line for people: shortened, and without control characters.
    package static func shown(_ command: String) -> String {
        let text = VisibleText.of(command)
        return text.count > 60 ? text.prefix(57) + "..." : text
    }

    /// Returns the arguments of the command line. A daemon that is a fork of its starter has a single string, with spaces
    /// between the arguments.
    private static func words(of pid: pid_t) -> [Substring] {
        let words = (content("/proc/\(pid)/cmdline") ?? "").split(separator: "\0")
        return words.count == 1 ? words[0].split(separator: " ") : words
    }

    private static func pids() -> [pid_t] { entries("/proc").compactMap { pid_t($0) } }

    private static func entries(_ path: String) -> [String] {
        do throws(Errno) {
            return try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY).names().map(Places.text)
        } catch { return [] }
    }

    private static func content(_ path: String) -> String? {
        do throws(Errno) {
            return String(decoding: try FileDescriptor.open(path, O_RDONLY).readToEnd(), as: UTF8.self)
        } catch { return nil }
    }

    /// Returns the target of a link. Bytes that are not UTF-8 become U+FFFD, as in a container's answers about its files.
    private static func link(_ path: String) -> String? {
        do throws(Errno) {
            let target = try System.readLink(at: AT_FDCWD, path)
            return String(decoding: target.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        } catch { return nil }
    }
}
