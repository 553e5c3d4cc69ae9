import Glibc
import PurgeModel
import PurgeSystem

// Reading, seeking, syncing and copying.
extension Volume {
    /// Offsets up to here can be counted in blocks and back. Most stores end sooner, with the same error.
    private static let maximumFileSize: Int64 = 1 << 62

    func checkEnd(_ end: Int64) throws(Errno) {
        if end > Self.maximumFileSize { throw .fileTooLarge }
    }

    public func seek(_ handle: Handle, offset: Int64, whence: Int32) throws(Errno) -> Int64 {
        guard whence == SEEK_DATA_NUMBER || whence == SEEK_HOLE_NUMBER else { throw .invalid }
        return try System.seek(handle.descriptor, offset, whence)
    }

    public func sync(_ handle: Handle, dataOnly: Bool) throws(Errno) {
        hooks.beforeSlowWork()
        if dataOnly { try System.syncData(handle.descriptor) } else { try System.sync(handle.descriptor) }
    }

    /// fsync(2) of a directory.
    public func syncDirectory(_ node: Node) throws(Errno) {
        hooks.beforeSlowWork()
        let descriptor = try readableDirectory(node)
        try System.sync(descriptor.raw)
    }

    /// A directory opened for reading, beside the cached descriptor that only names it.
    func readableDirectory(_ node: Node) throws(Errno) -> FileDescriptor {
        let directory = node === root ? store.container : try directoryDescriptor(node)
        return try directory.open(".", O_RDONLY | O_DIRECTORY)
    }

    /// copy_file_range(2): what fits. From a file with holes EOPNOTSUPP, and the kernel copies
    /// through read and write: some file systems would clone the holes.
    public func copy(
        from source: Handle, offset: Int64, to target: Handle, _ request: WriteRequest
    ) throws(Errno) -> WriteOutcome {
        guard source.node.isDenseNow(state), target.node.isDenseNow(state) else { throw .notSupported }
        hooks.beforeSlowWork()
        let size = Int64(try System.status(source.descriptor).st_size)
        var request = request
        request.length = Int(max(0, min(Int64(request.length), size - offset)))
        let outcome = try write(target, request) { (fd, bytes) throws(Errno) in
            try dropPrivilegesUnlessCapable(fd, pid: request.pid)
            let granted = bytes.upperBound
            var copied = bytes.lowerBound
            while copied < granted {
                let count = try System.copyRange(
                    from: source.descriptor, offset: offset + Int64(copied), to: fd,
                    offset: request.offset + Int64(copied), length: granted - copied)
                if count == 0 { break }
                copied += count
            }
            return copied - bytes.lowerBound
        }
        return outcome
    }
}
