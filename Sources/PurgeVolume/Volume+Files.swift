import Glibc
import PurgeSystem
import PurgeTree

// Open files and their data, for the code that serves the volume.
extension Volume {
    /// Opens a file. From here until `noteRelease` the file counts as open, and purges skip it.
    public func open(
        _ node: Node, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> Handle {
        try openFiles.open(node, flags: flags, caller: caller, offersPassthrough: offersPassthrough)
    }

    /// Turns the first passthrough open of a file into a cached one, after the kernel has refused passthrough.
    public func withdrawPassthrough(_ handle: Handle) { openFiles.withdrawPassthrough(handle) }

    /// Counts the file as closed once its RELEASE has been read. The thread that reads requests calls this before it reads
    /// the next one (docs/INTERNALS.md, The order of RELEASE).
    public func noteRelease(_ handle: Handle) { openFiles.noteRelease(handle) }

    /// Clears set-user-ID and set-group-ID for an open(2) with O_TRUNC by a caller that may not keep them.
    public func dropPrivileges(_ handle: Handle, tid: pid_t) throws(Errno) {
        try Privileges.drop(from: handle.descriptor, tid: tid)
    }

    /// Closes the backing file once nothing uses it.
    public func close(_ handle: consuming Handle) { openFiles.close(consume handle) }

    /// Releases files whose last mapping is gone, before a number is reported or a victim is chosen.
    public func settleMappings() { openFiles.settleMappings() }

    /// Returns the data of a read; `buffer` has `ReadRequest.bufferLength` bytes.
    public func read(
        _ handle: Handle, _ request: ReadRequest, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> ReadData {
        try fileData.read(handle, request, into: buffer)
    }

    public func seek(_ handle: Handle, offset: Int64, whence: Int32) throws(Errno) -> Int64 {
        try fileData.seek(handle, offset: offset, whence: whence)
    }

    public func sync(_ handle: Handle, dataOnly: Bool) throws(Errno) { try fileData.sync(handle, dataOnly: dataOnly) }

    /// Copies as many bytes as fit, for copy_file_range(2). Fails with EOPNOTSUPP if either file is not dense: it has holes, or
    /// blocks past its end. The kernel then copies by reads and writes.
    public func copy(
        from source: Handle, offset: Int64, to target: Handle, _ request: WriteRequest, debt: inout AnnouncementDebt
    ) throws(Errno) -> Int {
        retries.finishOld(except: request.tid)
        return try fileData.copy(from: source, offset: offset, to: target, request, debt: &debt)
    }

    /// Writes as many of the bytes as fit. A write-back from a mapping, and a write that has to fill a hole in a file that the
    /// kernel reads itself, succeed as a whole or fail. A write-back that fails may still have written some of its pages.
    public func write(
        _ handle: Handle, _ request: WriteRequest, _ bytes: UnsafeRawBufferPointer, debt: inout AnnouncementDebt
    ) throws(Errno) -> Int {
        retries.finishOld(except: request.tid)
        return try fileData.write(handle, request, SentBytes(sent: bytes), debt: &debt)
    }

    /// Carries out fallocate(2): plain, KEEP_SIZE, PUNCH_HOLE and ZERO_RANGE. All or nothing.
    public func allocate(
        _ handle: Handle, _ request: AllocationRequest, debt: inout AnnouncementDebt
    ) throws(Errno) {
        retries.finishOld(except: request.tid)
        try fileSpace.allocate(handle, request, debt: &debt)
    }
}
