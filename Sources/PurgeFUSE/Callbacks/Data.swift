import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeVolume

// READ, WRITE and the other calls on an open file's data.
extension fuse_lowlevel_ops {
    static func addData(_ operations: inout fuse_lowlevel_ops) {
        operations.read = { Request($0)?.read($1, size: $2, offset: Int64($3), $4) }
        operations.write = { request, node, bytes, size, offset, info in
            let data = UnsafeRawBufferPointer(start: bytes, count: size)
            Request(request)?.write(node, data, offset: Int64(offset), info)
        }
        operations.fsync = { Request($0)?.sync($1, dataOnly: $2 != 0, $3) }
        operations.fallocate = { Request($0)?.allocate($1, mode: $2, offset: Int64($3), length: Int64($4), $5) }
        operations.lseek = { Request($0)?.seek($1, offset: Int64($2), whence: $3, $4) }
        operations.copy_file_range = { request, node, offset, info, _, toOffset, toInfo, length, _ in
            Request(request)?.copy(node, from: info, at: Int64(offset), to: toInfo, at: Int64(toOffset), length)
        }
        operations.poll = { Request($0)?.poll($1, $2, $3) }
    }
}

extension Request {
    fileprivate func read(_ node: fuse_ino_t, size: Int, offset: Int64, _ info: FileInfo?) {
        if self.node(node).isControl { return readControl(info, size: size, offset: offset) }
        answer(ReadRequest(offset: offset, length: size, tid: tid), info)
    }

    private func answer(_ read: ReadRequest, _ info: FileInfo?) {
        withUnsafeTemporaryAllocation(byteCount: read.bufferLength, alignment: 4096) { buffer in
            answer { () throws(Errno) in
                try volume.read(handle(info), read, into: buffer)
            } _: {
                $0.data($1)
            }
        }
    }

    fileprivate func write(_ node: fuse_ino_t, _ data: UnsafeRawBufferPointer, offset: Int64, _ info: FileInfo?) {
        if self.node(node).isControl { return writeControl(info, data) }
        let write = WriteRequest(
            offset: offset, length: data.count, isMapped: info?.pointee.writepage != 0,
            dropsPrivileges: RawRequest.current.writeDropsPrivileges, tid: tid)
        answer(purging: { (debt: inout AnnouncementDebt) throws(Errno) in
            try volume.write(handle(info), write, data, debt: &debt)
        }) { $0.written($1) }
    }

    fileprivate func sync(_ node: fuse_ino_t, dataOnly: Bool, _ info: FileInfo?) {
        if self.node(node).isControl { return reply().done() }
        done { () throws(Errno) in try volume.sync(handle(info), dataOnly: dataOnly) }
    }

    fileprivate func allocate(_ node: fuse_ino_t, mode: Int32, offset: Int64, length: Int64, _ info: FileInfo?) {
        if self.node(node).isControl { return fail(.notSupported) }
        let allocation = AllocationRequest(mode: mode, offset: offset, length: length, tid: tid)
        answer(purging: { (debt: inout AnnouncementDebt) throws(Errno) in
            try volume.allocate(handle(info), allocation, debt: &debt)
        }) { reply, _ in reply.done() }
    }

    fileprivate func seek(_ node: fuse_ino_t, offset: Int64, whence: Int32, _ info: FileInfo?) {
        if self.node(node).isControl { return fail(.invalid) }
        answer { () throws(Errno) in
            try volume.seek(handle(info), offset: offset, whence: whence)
        } _: {
            $0.offset($1)
        }
    }

    fileprivate func copy(
        _ node: fuse_ino_t, from info: FileInfo?, at offset: Int64, to toInfo: FileInfo?, at toOffset: Int64,
        _ length: Int
    ) {
        // The kernel then reads and writes, so that a record has the data.
        if self.node(node).isControl || server.record?.keepsData == true { return fail(.notSupported) }
        let write = WriteRequest(
            offset: toOffset, length: Int(clamping: UInt(bitPattern: length)), isMapped: false,
            dropsPrivileges: false, tid: tid)
        answer(purging: { (debt: inout AnnouncementDebt) throws(Errno) in
            let source = try handle(info)
            let count = try volume.copy(from: source, offset: offset, to: handle(toInfo), write, debt: &debt)
            server.kernel.forgetAttributes(of: [source.node.address])
            return count
        }) { $0.written($1) }
    }
}
