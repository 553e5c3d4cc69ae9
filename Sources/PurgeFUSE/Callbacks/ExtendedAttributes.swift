import CFuse
import Glibc
import PurgeSystem
import PurgeVolume

// GETXATTR, SETXATTR, LISTXATTR, REMOVEXATTR.
extension fuse_lowlevel_ops {
    static func addExtendedAttributes(_ operations: inout fuse_lowlevel_ops) {
        operations.getxattr = { request, node, name, size in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.extendedAttribute(
                    of: server.node(node), named: Server.name(name), caller: server.caller(request))
            } _: {
                $0.value($1, size: size)
            }
        }
        operations.setxattr = { request, node, name, value, size, flags in
            guard let request else { return }
            let server = Server.of(request)
            Reply.done(request) { () throws(Errno) in
                try server.volume.setExtendedAttribute(
                    of: server.node(node), named: Server.name(name),
                    to: [UInt8](UnsafeRawBufferPointer(start: value, count: size)), flags: flags,
                    caller: server.caller(request))
            }
        }
        operations.listxattr = { request, node, size in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.extendedAttributeNames(of: server.node(node), caller: server.caller(request))
            } _: {
                $0.value($1, size: size)
            }
        }
        operations.removexattr = { request, node, name in
            guard let request else { return }
            let server = Server.of(request)
            Reply.done(request) { () throws(Errno) in
                try server.volume.removeExtendedAttribute(
                    of: server.node(node), named: Server.name(name), caller: server.caller(request))
            }
        }
    }
}
