import Glibc

/// The identity of a file or directory. It is only valid while somebody has the file open: some file systems give an unused
/// inode another number.
public struct FileIdentity: Hashable, Sendable, LosslessStringConvertible {
    private let device: UInt
    private let inode: UInt

    public init(_ status: FileStatus) { (device, inode) = (UInt(status.st_dev), UInt(status.st_ino)) }

    public init(of file: FileDescriptor) throws(Errno) { self.init(try System.status(file.raw)) }

    /// Parses the form of `description`.
    public init?(_ description: String) {
        let numbers = description.split(separator: ":").map { UInt($0) }
        guard numbers.count == 2, let device = numbers[0], let inode = numbers[1] else { return nil }
        (self.device, self.inode) = (device, inode)
    }

    public var description: String { "\(device):\(inode)" }
}

/// A directory that keeps its identity because it is open. Its descriptor does not share a lock (flock) on the directory.
public struct KnownDirectory: Sendable {
    private let descriptor: FileDescriptor
    public let identity: FileIdentity

    public init(_ directory: FileDescriptor) throws(Errno) {
        descriptor = try directory.open(".", System.openPath | O_DIRECTORY)
        identity = try FileIdentity(of: descriptor)
    }

    public init(path: String) throws(Errno) {
        descriptor = try FileDescriptor.open(path, System.openPath | O_DIRECTORY)
        identity = try FileIdentity(of: descriptor)
    }
}
