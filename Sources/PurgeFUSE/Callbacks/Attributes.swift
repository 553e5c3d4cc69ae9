import CFuse
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

// GETATTR, SETATTR, STATFS.
extension fuse_lowlevel_ops {
    static func addAttributes(_ operations: inout fuse_lowlevel_ops) {
        operations.getattr = { request, node, _ in
            guard let request = Request(request) else { return }
            if RawRequest.current.isStatx { return request.attributesWithBirth(node) }
            request.answer { () throws(Errno) in
                try request.volume.attributes(of: request.node(node))
            } _: {
                $0.attributes($1)
            }
        }
        operations.setattr = { Request($0)?.setAttributes(of: $1, $2, valid: $3, $4) }
        operations.statfs = { request, node in
            guard let request = Request(request) else { return }
            // Our own thread asks only for the sake of asking.
            if request.server.kernel.isAsking(request.tid) { return request.fail(.ioError) }
            request.reply().statistics(request.volume.statistics(at: request.node(node)))
        }
    }
}

extension Request {
    /// Answers FUSE_STATX, which the kernel sends when a program asks for the birth time.
    fileprivate func attributesWithBirth(_ node: fuse_ino_t) {
        answer { () throws(Errno) in
            try volume.attributes(of: self.node(node), withBirth: true)
        } _: {
            $0.attributesWithBirth($1)
        }
    }

    fileprivate func setAttributes(
        of node: fuse_ino_t, _ values: UnsafeMutablePointer<stat>?, valid: Int32, _ info: FileInfo?
    ) {
        let node = self.node(node)
        answer(purging: { (debt: inout AnnouncementDebt) throws(Errno) in
            guard let values else { throw .invalid }
            let handle = node.isControl || info == nil ? nil : try handle(info)
            let change = AttributeChange(values.pointee, valid: valid, caller: caller)
            return try volume.setAttributes(of: node, handle: handle, change, debt: &debt)
        }) { $0.attributes($1) }
    }
}

extension AttributeChange {
    init(_ values: stat, valid: Int32, caller: Caller) {
        self.init(caller: caller)
        if valid & FUSE_SET_ATTR_MODE != 0 { mode = values.st_mode }
        if valid & FUSE_SET_ATTR_UID != 0 { owner = values.st_uid }
        if valid & FUSE_SET_ATTR_GID != 0 { group = values.st_gid }
        if valid & FUSE_SET_ATTR_SIZE != 0 { size = Int64(values.st_size) }
        let now = timespec(tv_sec: 0, tv_nsec: System.timeNow)
        if valid & FUSE_SET_ATTR_ATIME_NOW != 0 {
            accessTime = now
        } else if valid & FUSE_SET_ATTR_ATIME != 0 {
            accessTime = values.st_atim
        }
        if valid & FUSE_SET_ATTR_MTIME_NOW != 0 {
            modificationTime = now
        } else if valid & FUSE_SET_ATTR_MTIME != 0 {
            modificationTime = values.st_mtim
        }
        dropsPrivileges = RawRequest.current.changeDropsPrivileges
    }
}
