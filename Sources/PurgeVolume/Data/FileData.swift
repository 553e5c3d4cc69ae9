import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// The data of open files: reading, writing, copying, seeking and syncing.
struct FileData: VolumeFamily {
    let core: VolumeCore

    func seek(_ handle: Handle, offset: Int64, whence: Int32) throws(Errno) -> Int64 {
        guard whence == System.seekData || whence == System.seekHole else { throw .invalid }
        return try System.seek(handle.descriptor, offset, whence)
    }

    func sync(_ handle: Handle, dataOnly: Bool) throws(Errno) {
        port.expectSlowWork()
        do throws(Errno) {
            if dataOnly { try System.syncData(handle.descriptor) } else { try System.sync(handle.descriptor) }
        } catch { throw access.hostError(error, handle.node) }
    }

    /// Copies between dense files. Files with holes are left to the kernel's copy by reads and writes, because some file
    /// systems would clone the holes.
    func copy(
        from source: Handle, offset: Int64, to target: Handle, _ request: WriteRequest, debt: inout AnnouncementDebt
    ) throws(Errno) -> Int {
        try protection.admit(.use, to: source.node, by: request.tid)
        try protection.admit(.use, to: target.node, by: request.tid)
        guard isDense(source.node), isDense(target.node) else { throw .notSupported }
        guard offset >= 0 else { throw .invalid }
        port.expectSlowWork()
        let rest = ByteCount(try System.status(source.descriptor).size) - ByteCount(offset)
        var request = request
        request.length = Int(max(0, min(Int64(request.length), rest.bytes)))
        let bytes = CopiedBytes(source: source, start: offset, tid: request.tid)
        return try write(target, request, bytes, debt: &debt)
    }
}
