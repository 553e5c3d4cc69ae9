import Glibc

/// The file system under a store.
public enum Backing: String, CaseIterable, Sendable {
    case ext4, tmpfs, overlayfs, xfs, btrfs
}

/// A directory on a file system of one kind, created for a test.
public struct BackingDirectory: Sendable {
    public let path: String
    private let mountpoint: String?

    /// Creates the file system under `scratch`; on ext4, a plain directory is enough for `.ext4`. The images of 1 GiB are
    /// sparse, so they take only the written data. Tests with a full disk set `tmpfsSize`.
    public init(_ kind: Backing, in scratch: String, tmpfsSize: String = "2G") throws {
        let place = "\(scratch)/\(kind.rawValue)"
        guard mkdir(place, 0o755) == 0 else { throw TestFailure("cannot make \(place)") }
        switch kind {
        case .ext4 where Files.fileSystemType(scratch) == 0xEF53:
            mountpoint = nil
            path = place
            return
        case .tmpfs:
            try Program.run("mount", "-t", "tmpfs", "-o", "size=\(tmpfsSize)", "tmpfs", place).succeeded()
        case .overlayfs:
            try Self.mountOverlay(at: place, under: scratch)
        case .ext4, .xfs, .btrfs:
            let image = "\(scratch)/image"
            let force = kind == .ext4 ? "-F" : "-f"
            try Program.run("truncate", "-s", "1G", image).succeeded()
            try Program.run("mkfs.\(kind.rawValue)", "-q", force, image).succeeded()
            try Program.run("mount", "-o", "loop", image, place).succeeded()
        }
        mountpoint = place
        path = "\(place)/d"
        guard mkdir(path, 0o755) == 0 else { throw TestFailure("cannot make \(path)") }
    }

    private static func mountOverlay(at place: String, under scratch: String) throws {
        let parts = ["lower", "upper", "work"].map { "\(scratch)/overlay-\($0)" }
        parts.forEach { mkdir($0, 0o755) }
        let options = "lowerdir=\(parts[0]),upperdir=\(parts[1]),workdir=\(parts[2])"
        try Program.run("mount", "-t", "overlay", "-o", options, "overlay", place).succeeded()
    }

    public func release() throws {
        if let mountpoint { try Program.run("umount", mountpoint).succeeded() }
    }
}
