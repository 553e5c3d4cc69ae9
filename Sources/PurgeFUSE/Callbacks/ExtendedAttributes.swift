import CFuse
import Glibc
import PurgeSystem
import PurgeVolume

// GETXATTR, SETXATTR, LISTXATTR, REMOVEXATTR.
extension fuse_lowlevel_ops {
    static func addExtendedAttributes(_ operations: inout fuse_lowlevel_ops) {
        operations.getxattr = { request, node, name, size in
            guard let request = Request(request) else { return }
            request.answer { () throws(Errno) in
                try request.volume.extendedAttributes.value(
                    of: request.node(node), named: request.name(name), caller: request.caller)
            } _: {
                $0.value($1, size: size)
            }
        }
        operations.setxattr = { request, node, name, value, size, flags in
            guard let request = Request(request) else { return }
            request.done { () throws(Errno) in
                try request.volume.extendedAttributes.set(
                    of: request.node(node), named: request.name(name),
                    to: [UInt8](UnsafeRawBufferPointer(start: value, count: size)), flags: flags,
                    caller: request.caller)
            }
        }
        operations.listxattr = { request, node, size in
            guard let request = Request(request) else { return }
            request.answer { () throws(Errno) in
                try request.volume.extendedAttributes.names(of: request.node(node), caller: request.caller)
            } _: {
                $0.value($1, size: size)
            }
        }
        operations.removexattr = { request, node, name in
            guard let request = Request(request) else { return }
            request.done { () throws(Errno) in
                try request.volume.extendedAttributes.remove(
                    of: request.node(node), named: request.name(name), caller: request.caller)
            }
        }
    }
}
