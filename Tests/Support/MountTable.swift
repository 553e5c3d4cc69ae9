import Foundation
import Glibc

/// The content of /proc/self/mountinfo. Reading it does not touch the mounts themselves, which may hang.
public enum MountTable {
    public struct Entry: Sendable {
        public let minor: Int
        public let mountpoint: String
        public let type: String
    }

    public static func entries() -> [Entry] {
        Files.text("/proc/self/mountinfo").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), fields.count > dash + 1,
                let minor = fields[2].split(separator: ":").last.flatMap({ Int($0) })
            else { return nil }
            return Entry(minor: minor, mountpoint: unescaped(fields[4]), type: String(fields[dash + 1]))
        }
    }

    /// Returns the topmost mount at exactly this path.
    public static func entry(at path: String) -> Entry? { entries().last { $0.mountpoint == path } }

    /// Removes copies of a mount from other mount namespaces. A process that makes its own namespace, such as an unrelated
    /// `unshare -m` on this machine, gets a copy of every mount. Each copy keeps a daemon alive.
    public static func removeCopies(of mountpoint: String) {
        func namespace(_ process: String) -> String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/mnt")
        }
        var seen = [namespace("self")]
        for process in (try? Files.names(in: "/proc")) ?? [] where Int(process) != nil {
            guard let other = namespace(process), !seen.contains(other) else { continue }
            seen.append(other)
            guard Files.text("/proc/\(process)/mountinfo").contains(" \(mountpoint) ") else { continue }
            _ = try? Program.run("nsenter", "-m", "-t", process, "umount", "-l", mountpoint)
        }
    }

    /// Decodes octal escapes; the table writes a space as \040, for example.
    private static func unescaped(_ field: Substring) -> String {
        ["\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"].reduce(String(field)) {
            $0.replacingOccurrences(of: $1.key, with: $1.value)
        }
    }

    /// Makes every request of a FUSE mount fail, which releases the processes that wait for one.
    public static func abortConnection(of mountpoint: String) {
        guard let entry = entry(at: mountpoint), entry.type.hasPrefix("fuse") else { return }
        let control = ScratchRoot.shared.newName("fusectl")
        mkdir(control, 0o700)
        defer { rmdir(control) }
        guard (try? Program.run("mount", "-t", "fusectl", "fusectl", control).status) == 0 else { return }
        _ = try? Program.shell("echo 1 > \(control)/\(entry.minor)/abort")
        _ = try? Program.run("umount", "-l", control)
    }
}
