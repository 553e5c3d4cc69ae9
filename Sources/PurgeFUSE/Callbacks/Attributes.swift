import CFuse
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

// GETATTR, SETATTR, STATFS.
extension fuse_lowlevel_ops {
    static func addAttributes(_ operations: inout fuse_lowlevel_ops) {
        operations.getattr = { request, node, _ in
            guard let request else { return }
            let server = Server.of(request)
            if RawRequest.current.isStatx { return server.attributesWithBirth(request, server.node(node)) }
            Reply.to(request) { () throws(Errno) in
                try server.volume.attributes(of: server.node(node))
            } _: {
                $0.attributes($1)
            }
        }
        operations.setattr = { request, node, values, valid, info in
            guard let request, let values else { return }
            let server = Server.of(request)
            let node = server.node(node)
            Reply.to(request) { (debt: inout AnnouncementDebt) throws(Errno) in
                let handle = node.isControl || info == nil ? nil : try server.handle(info)
                let change = AttributeChange(values.pointee, valid: valid, caller: server.caller(request))
                return try server.volume.setAttributes(of: node, handle: handle, change, debt: &debt)
            } _: {
                $0.attributes($1)
            }
        }
        operations.statfs = { request, node in
            guard let request else { return }
            let server = Server.of(request)
            server.retries.finishNameless()
            Reply(request).statistics(server.volume.statistics(at: server.node(node)))
        }
    }
}

extension Server {
    /// FUSE_STATX, which comes when a program asks for the birth time.
    fileprivate func attributesWithBirth(_ request: fuse_req_t, _ node: Node) {
        Reply.to(request) { () throws(Errno) in
            (try volume.attributes(of: node), try volume.birth(of: node))
        } _: {
            $0.attributes($1.0, birth: $1.1)
        }
    }
}

extension AttributeChange {
    init(_ values: stat, valid: Int32, caller: Caller) {
        self.init(caller: caller)
        if valid & FUSE_SET_ATTR_MODE != 0 { mode = values.st_mode }
        if valid & FUSE_SET_ATTR_UID != 0 { owner = values.st_uid }
        if valid & FUSE_SET_ATTR_GID != 0 { group = values.st_gid }
        if valid & FUSE_SET_ATTR_SIZE != 0 { size = Int64(values.st_size) }
        let now = timespec(tv_sec: 0, tv_nsec: utimeNow)
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
